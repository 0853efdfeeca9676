// The command line: which verbs and options exist, with an example each.
//
// With its cli_*.cc the only file that sees CLI11. It fills option structs,
// calls a verb and turns its status into the exit code of determinism/status.h.
#include "tools/cli.h"

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

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

// All verbs and what their options fill.
struct CommandLine {
  CommandLine() {
    app.require_subcommand(1);
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
  }

  CLI::App app{"Lockstep: a trainer whose every bit is accounted for"};
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
};

// The exit code of words that cannot be parsed, or ask for help.
std::optional<int> Parse(CommandLine& line, int argc, char** argv) {
  const std::string mistake =
      ArgumentMistake(line.app, {argv + 1, argv + argc});
  if (!mistake.empty()) {
    std::fprintf(stderr, "lockstep: %s\n", mistake.c_str());
    return kUsage;
  }
  try {  // CLI11 reports by exception
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return line.app.exit(error) == 0 ? 0 : kUsage;
  }
  return std::nullopt;
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  CommandLine line;
  const std::optional<int> over = Parse(line, argc, argv);
  return over ? *over : Finish(line.run());
}

std::string ParseCommandLine(const std::vector<std::string>& words) {
  CommandLine line;
  if (std::string mistake = ArgumentMistake(line.app, words);
      !mistake.empty()) {
    return mistake;
  }
  std::vector<const char*> argv = {"lockstep"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    line.app.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::CallForHelp&) {
    return "help";
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace lockstep
