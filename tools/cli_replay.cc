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

}  // namespace lockstep
