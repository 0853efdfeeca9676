// The verbs that hold runs against each other: their options and examples.
#include "tools/cli_verb.h"

namespace lockstep {

void AddCompare(CLI::App& app, CompareOptions& o, Run& run) {
  CLI::App* verb = Verb(
      app, "compare",
      "did a change help, or is it the seed? Welch's test on final evaluations",
      "lockstep compare --baseline runs/a_seed_* --candidate runs/b_seed_* "
      "--min-effect 0.003\n  lockstep compare --baseline 2.412,2.418,2.409 "
      "--candidate 2.405,2.411,2.404 --min-effect 0.003");
  verb->add_option("--baseline", o.baseline, "folders of runs, or numbers")
      ->required()
      ->expected(1, 1 << 20);
  verb->add_option("--candidate", o.candidate, "folders of runs, or numbers")
      ->required()
      ->expected(1, 1 << 20);
  verb->add_option("--min-effect", o.min_effect,
                   "the least difference worth acting on, nats a token")
      ->required()
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--spread", o.spread,
                   "what `seeds` wrote: the noise of an arm of one run");
  verb->add_option("--allow-unmatched", o.allow_unmatched,
                   "why runs that are no match are compared all the same");
  verb->add_option("--threads", o.threads, "of an evaluation done now")
      ->transform(Threads());
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return CompareVerb(o); }; });
}

void AddSeeds(CLI::App& app, SeedsOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "seeds", "one recipe over several seeds; how far they spread",
           "lockstep seeds recipes/debug.toml --seeds 4 --out spread.json");
  verb->add_option("recipe", o.recipe, "a TOML file")->required();
  verb->add_option("--seeds", o.seeds, "how many, from the recipe's own on")
      ->required()
      ->transform(Whole(1, 1 << 20));
  verb->add_option("--set", o.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_option("--out", o.out, "the file for `compare --spread`");
  verb->add_option("--runs", o.folder,
                   "the folder of the runs (runs/seeds-<recipe>-<hash>)");
  verb->add_option("--allow", o.allow, "as for train")->delimiter(',');
  verb->add_option("--reason", o.reason, "why they are allowed; recorded");
  verb->add_option("--threads", o.threads, "compute threads of a rank")
      ->transform(Threads());
  verb->add_option("--ranks", o.ranks, "ranks as threads of this process")
      ->transform(Whole(1, 1 << 20));
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->add_flag("--quiet", o.quiet, "no display");
  verb->callback([&] { run = [&] { return SeedsVerb(o); }; });
}

void AddDiff(CLI::App& app, DiffOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "diff", "where two runs part, without doing a step again",
           "lockstep diff runs/debug-0123abcd runs/mine");
  verb->add_option("run_a", o.run_a, "a run's folder; only read")->required();
  verb->add_option("run_b", o.run_b, "another's")->required();
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return DiffVerb(o); }; });
}

}  // namespace lockstep
