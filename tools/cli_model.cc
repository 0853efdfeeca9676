// `lockstep eval` and `generate`: what a run's model says.
#include <cstdint>

#include "tools/batch_schedule.h"
#include "tools/cli_verb.h"
#include "tools/verbs.h"

namespace lockstep {

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

}  // namespace lockstep
