// The verbs that do steps of a run again: their options and examples.
#include "tools/batch_schedule.h"
#include "tools/cli_verb.h"

namespace lockstep {

void AddExplain(CLI::App& app, ExplainOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "explain",
           "a step's samples by suspicion: documents, losses, repetition",
           "lockstep explain runs/debug-0123abcd --step 17");
  verb->add_option("run", o.run_dir, "the run's folder; only read")->required();
  verb->add_option("--step", o.step, "a step that the run has done")
      ->required()
      ->transform(Whole(1, kMostSteps));
  verb->add_option("--window", o.window,
                   "compare with the samples of so many steps before")
      ->transform(Whole(0, kMostSteps));
  verb->add_flag("--from-seed", o.from_seed,
                 "replay from the start, whatever checkpoints there are");
  verb->add_flag("--full", o.full, "whole texts, every sample in detail");
  verb->add_option("--threads", o.threads, "compute threads")
      ->transform(Threads());
  verb->add_flag("--json", o.json,
                 "one JSON object on stdout; tools/explain_report.h has it");
  verb->callback([&] { run = [&] { return ExplainVerb(o); }; });
}

void AddReplay(CLI::App& app, ReplayVerbOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "replay",
           "steps of a run done again from the checkpoint before them",
           "lockstep replay runs/debug-0123abcd --from 17 --to 19");
  verb->add_option("run", o.run_dir, "the run's folder; only read")->required();
  verb->add_option("--from", o.from, "the first step")
      ->required()
      ->transform(Whole(1, kMostSteps));
  verb->add_option("--to", o.to, "the last step, done too")
      ->required()
      ->transform(Whole(1, kMostSteps));
  verb->add_option("--set", o.sets,
                   "section.key=value, over the run's recipe: another layout, "
                   "or a remedy");
  verb->add_option("--skip-samples", o.skip_samples,
                   "A-B: pass over these samples, both included");
  verb->add_option("--without", o.without,
                   "SOURCE:DOCUMENT: pass over every sample that holds a "
                   "token of it");
  verb->add_option("--lr", o.lr, "another optimizer.lr");
  verb->add_flag("--full", o.full, "every sample with its documents and text");
  verb->add_flag("--from-seed", o.from_seed,
                 "begin at the start, whatever checkpoints there are");
  verb->add_flag(
      "--swap-ranks", o.swap_ranks,
      "the ranks on cores in the opposite order; as many cores are needed");
  CLI::Option* trace = verb->add_option(
      "--trace", o.trace, "write what every rank does to this new folder");
  verb->add_option("--trace-level", o.trace_level,
                   "step, phase, module, operation or kernel")
      ->needs(trace);
  verb->add_option("--trace-values", o.trace_values,
                   "beside fingerprints: none, statistics, sample or bytes")
      ->needs(trace);
  verb->add_option("--trace-scope", o.trace_scope, "only below this module")
      ->needs(trace);
  verb->add_option("--threads", o.threads, "compute threads of a rank")
      ->transform(Threads());
  verb->add_flag("--json", o.json,
                 "one JSON object on stdout; tools/replay/judgement.h has it");
  verb->callback([&] { run = [&] { return ReplayVerb(o); }; });
}

void AddBisect(CLI::App& app, BisectVerbOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "bisect",
           "where two runs part: step, rank, operation, tensor, by replay",
           "lockstep bisect runs/a runs/b");
  verb->add_option("a", o.a, "a run's folder; only read")->required();
  verb->add_option("b", o.b, "another run's")->required();
  verb->add_option("--binary-a", o.binary_a, "the program that made A");
  verb->add_option("--binary-b", o.binary_b, "the program that made B");
  CLI::Option* fix =
      verb->add_option("--verify-fix", o.verify_fix,
                       "RUN_C RUN_D, made with a fix: are they equal, do they "
                       "still do the operation, what does a step cost")
          ->expected(2);
  verb->add_option("--binary-fix", o.binary_fix, "the program that made them")
      ->needs(fix);
  verb->add_option("--scratch", o.scratch, "a folder for temporary traces");
  verb->add_option("--output", o.output,
                   "the folder for what was found (bisects/A_B)");
  verb->add_option("--html", o.html, "the page (OUTPUT/report.html)");
  verb->add_option("--threads", o.threads, "compute threads of a rank")
      ->transform(Threads());
  verb->add_flag("--json", o.json,
                 "one JSON object on stdout; tools/bisect/bisect.h has it");
  verb->callback([&] { run = [&] { return BisectVerb(o); }; });
}

void AddVerify(CLI::App& app, VerifyOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "verify",
           "of a run: does parts of it again, which must end in the saved "
           "bits; of a recipe: a run with a stop against one without",
           "lockstep verify runs/debug-0123abcd --segments 2\n"
           "  lockstep verify recipes/debug.toml --layout data=2");
  verb->add_option("path", o.path, "a run's folder, or a recipe")->required();
  verb->add_option("--segments", o.segments,
                   "of a run: stretches between checkpoints to do again")
      ->transform(Whole(1, INT64_MAX));
  verb->add_option("--seed", o.seed,
                   "of a run: which of them; else the clock decides")
      ->transform(Whole(0, INT64_MAX));
  verb->add_option("--set", o.sets, "of a recipe: section.key=value, over it")
      ->take_all()
      ->expected(1);
  verb->add_option("--layout", o.layout,
                   "of a recipe: resume on data=N,tensor=N,pipeline=N");
  verb->add_option("--steps", o.steps, "of a recipe: at most so many")
      ->transform(Whole(2, kMostSteps));
  verb->add_option("--scratch", o.scratch,
                   "of a recipe: keep both runs in this folder");
  verb->add_option("--allow", o.allow, "as `train` has it")->delimiter(',');
  verb->add_option("--reason", o.reason, "why they are allowed; recorded");
  verb->add_option("--threads", o.threads, "compute threads of a rank")
      ->transform(Threads());
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return VerifyVerb(o); }; });
}

}  // namespace lockstep
