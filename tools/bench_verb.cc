// `lockstep bench NAME`.
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bench/bench.h"
#include "tools/verbs.h"

namespace lockstep {

absl::StatusOr<Answer> BenchVerb(const BenchVerbOptions& options) {
  std::string names;
  for (const Bench& bench : AllBenches()) {
    if (bench.name != options.name) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", bench.name);
      continue;
    }
    BenchOptions o = {.peer = options.peer,
                      .threads = options.threads,
                      .scratch = options.scratch,
                      .rounds = options.rounds,
                      .only = options.only,
                      .ranks = options.ranks,
                      .sets = options.sets};
    if (!options.recipe.empty()) o.recipe = options.recipe;
    LS_ASSIGN_OR_RETURN(const std::vector<BenchCase> cases, RunBench(bench, o));
    if (cases.empty()) return Answer{};  // another rank has them
    return Answer{options.json ? BenchJson(bench.name, cases)
                               : BenchTable(cases)};
  }
  return InputError(absl::StrCat("there is no bench ", options.name),
                    "bench " + options.name, "choose one of: " + names);
}

}  // namespace lockstep
