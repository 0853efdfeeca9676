// `lockstep bench` and `lockstep tax`: their options, with an example each.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/bench/bench.h"
#include "tools/cli_verb.h"

namespace lockstep {
namespace {

std::string BenchNames() {
  return absl::StrJoin(
      AllBenches(), ", ",
      [](std::string* out, const Bench& b) { absl::StrAppend(out, b.name); });
}

}  // namespace

void AddBench(CLI::App& app, BenchVerbOptions& o, Run& run) {
  CLI::App* verb = Verb(
      app, "bench", "rates of one part, each beside a probe of the same minute",
      "lockstep bench order");
  verb->add_option("name", o.name, "one of " + BenchNames())->required();
  verb->add_option("--peer", o.peer,
                   "somebody else's code: onednn of gemm, a command of step or "
                   "checkpoint");
  verb->add_option("--only", o.only, "cases whose name has this in it");
  verb->add_option("--rounds", o.rounds, "repetitions of each measurement")
      ->transform(Whole(1, 1000));
  verb->add_option("--recipe", o.recipe,
                   "what step trains and checkpoint saves "
                   "(recipes/hybrid_100m.toml)");
  verb->add_option("--set", o.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_option("--scratch", o.scratch, "a folder for temporary files");
  verb->add_option("--ranks", o.ranks,
                   "of comm, as threads; under mpirun those it started")
      ->transform(Whole(1, 64));
  verb->add_option("--threads", o.threads, "at most so many compute threads")
      ->transform(Threads());
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return BenchVerb(o); }; });
}

void AddTax(CLI::App& app, TaxVerbOptions& o, Run& run) {
  CLI::App* verb =
      Verb(app, "tax", "what each guarantee costs, step against step, by part",
           "lockstep tax recipes/debug.toml --ranks 2");
  verb->add_option("recipe", o.tax.recipe, "a TOML file; its text is replaced")
      ->required();
  verb->add_option("--set", o.tax.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  verb->add_option("--ranks", o.tax.ranks, "ranks as threads of this process")
      ->transform(Whole(1, 4096));
  verb->add_option("--threads", o.tax.threads, "compute threads of a rank")
      ->transform(Threads());
  verb->add_option("--rounds", o.tax.rounds, "pairs of steps (31)")
      ->transform(Whole(1, 100'000));
  verb->add_option("--scratch", o.tax.scratch, "a folder for temporary files");
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return TaxVerb(o); }; });
}

}  // namespace lockstep
