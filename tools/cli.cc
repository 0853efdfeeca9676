// The command line: which verbs and options exist, with an example each.
//
// With its cli_*.cc the only file that sees CLI11. It fills option structs,
// calls a verb and turns its status into the exit code of determinism/status.h.
#include "tools/cli.h"

#include <cstdio>
#include <string>

#include "determinism/status.h"
#include "tools/batch_schedule.h"
#include "tools/cli_verb.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

constexpr int kNegative = 1;
constexpr int kUsage = 2;

int Finish(const absl::StatusOr<Answer>& answer) {
  if (!answer.ok()) {
    const std::string message(answer.status().message());
    std::fprintf(stderr, "lockstep: %s\n", message.c_str());
    return ExitCodeFor(answer.status());
  }
  std::fputs(answer->text.c_str(), stdout);
  std::fflush(stdout);
  return answer->negative ? kNegative : 0;
}

void AddTrain(CLI::App& app, TrainOptions& o, Run& run) {
  CLI::App* verb = Verb(app, "train", "trains a recipe, or goes on with a run",
                        "lockstep train recipes/debug.toml --set seed=7");
  verb->add_option("recipe", o.recipe, "a TOML file")->required();
  verb->add_option("--set", o.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_option("--run", o.run_dir,
                   "the run's folder (runs/<recipe>-<hash>)");
  verb->add_option("--until", o.until, "stop after this step, resumable")
      ->transform(Whole(1, kMostSteps));
  verb->add_option("--resume", o.resume,
                   "auto, must, never, or a checkpoint's folder");
  verb->add_option("--fork", o.fork,
                   "begin a new run from this checkpoint of another");
  verb->add_option("--allow", o.allow,
                   "differences from the manifest to let through")
      ->delimiter(',');
  verb->add_option("--reason", o.reason, "why they are allowed; recorded");
  verb->add_option("--fault", o.faults, "break on purpose: kind=...,step=...")
      ->take_all()
      ->expected(1);
  verb->add_option("--skip-samples", o.skip_samples,
                   "A-B: pass over these samples from here on, for good")
      ->take_all()
      ->expected(1);
  verb->add_option("--threads", o.threads, "compute threads of a rank")
      ->transform(Threads());
  verb->add_option("--rank-timeout", o.rank_timeout_s,
                   "seconds until a silent rank is lost, before "
                   "watchdog.timeout_s")
      ->transform(Whole(1, 86'400));
  verb->add_option("--step-timeout", o.step_timeout_s,
                   "seconds until a rank in one step is lost")
      ->transform(Whole(1, 86'400));
  verb->add_option("--ranks", o.ranks, "ranks as threads of this process")
      ->transform(Whole(1, 4096));
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->add_flag("--quiet", o.quiet, "no display");
  verb->callback([&] { run = [&] { return TrainVerb(o); }; });
}

void AddStatus(CLI::App& app, StatusOptions& o, Run& run) {
  CLI::App* verb = Verb(app, "status", "where a run stands; only reads",
                        "lockstep status runs/debug-0123abcd");
  verb->add_option("run", o.run_dir, "the run's folder")->required();
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return StatusVerb(o); }; });
}

void AddEval(CLI::App& app, EvalOptions& o, Run& run) {
  CLI::App* verb = Verb(app, "eval", "loss of a run on its held-out documents",
                        "lockstep eval runs/debug-0123abcd recipes/debug.toml");
  verb->add_option("run", o.run_dir,
                   "the run's folder, or a checkpoint's in it")
      ->required();
  verb->add_option("recipe", o.recipe, "its recipe, or another evaluation's")
      ->required();
  verb->add_option("--set", o.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_option("--checkpoint", o.checkpoint, "another than the newest");
  verb->add_option("--micro-batch", o.micro_batch, "samples at a time")
      ->transform(Whole(1, kMostBatch));
  verb->add_option("--text", o.text, "write the text that was scored here");
  verb->add_option("--threads", o.threads, "compute threads")
      ->transform(Threads());
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return EvalVerb(o); }; });
}

void AddGenerate(CLI::App& app, GenerateVerbOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "generate", "text sampled from a run's model",
           "lockstep generate runs/debug-0123abcd --prompt 'The '");
  verb->add_option("run", o.run_dir,
                   "the run's folder, or a checkpoint's in it")
      ->required();
  verb->add_option("--prompt", o.prompt, "text to go on from")->required();
  verb->add_option("--tokens", o.tokens, "most tokens to draw")
      ->transform(Whole(1, 1 << 20));
  verb->add_option("--temperature", o.temperature, "0 takes the likeliest")
      ->check(CLI::Range(0.0, 100.0));
  verb->add_option("--seed", o.seed, "another text")
      ->transform(Whole(0, INT64_MAX));
  verb->add_option("--checkpoint", o.checkpoint, "another than the newest");
  verb->add_option("--threads", o.threads, "compute threads")
      ->transform(Threads());
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return GenerateVerb(o); }; });
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  CLI::App app("Lockstep: a trainer whose every bit is accounted for");
  app.require_subcommand(1);
  TrainOptions train;
  LaunchOptions launch;
  StatusOptions status;
  EvalOptions eval;
  GenerateVerbOptions generate;
  ExplainOptions explain;
  ReplayVerbOptions replay;
  BisectVerbOptions bisect;
  VerifyOptions verify;
  RecipeOptions recipe;
  DataVerbs data;
  CkptOptions ckpt;
  TraceVerbs trace;
  PlanOptions plan;
  BenchVerbOptions bench;
  TaxVerbOptions tax;
  DoctorVerbs doctor;
  CompareOptions compare;
  SeedsOptions seeds;
  DiffOptions diff;
  Run run;
  AddTrain(app, train, run);
  AddLaunch(app, launch, run);
  AddStatus(app, status, run);
  AddEval(app, eval, run);
  AddGenerate(app, generate, run);
  AddExplain(app, explain, run);
  AddReplay(app, replay, run);
  AddBisect(app, bisect, run);
  AddVerify(app, verify, run);
  AddRecipe(app, recipe, run);
  AddData(app, data, run);
  AddCkpt(app, ckpt, run);
  AddTrace(app, trace, run);
  AddPlan(app, plan, run);
  AddBench(app, bench, run);
  AddTax(app, tax, run);
  AddDoctor(app, doctor, run);
  AddCompare(app, compare, run);
  AddSeeds(app, seeds, run);
  AddDiff(app, diff, run);
  const std::string mistake = ArgumentMistake(app, {argv + 1, argv + argc});
  if (!mistake.empty()) {
    std::fprintf(stderr, "lockstep: %s\n", mistake.c_str());
    return kUsage;
  }
  try {  // CLI11 reports by exception
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return Finish(run());
}

}  // namespace lockstep
