// The one list of benches. A new one is a file with its function, a line in
// benches.h and a line here.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/environment.h"
#include "determinism/status.h"
#include "tools/bench/bench.h"
#include "tools/bench/benches.h"

namespace lockstep {

namespace {

// Options that are not as they are when nobody names them.
std::vector<std::string> Given(const BenchOptions& options) {
  const BenchOptions none;
  std::vector<std::string> given;
  const auto add = [&](const char* name, bool differs) {
    if (differs) given.push_back(name);
  };
  add("peer", options.peer != none.peer);
  add("threads", options.threads != none.threads);
  add("scratch", options.scratch != none.scratch);
  add("rounds", options.rounds != none.rounds);
  add("only", options.only != none.only);
  add("ranks", options.ranks != none.ranks);
  add("recipe", options.recipe != none.recipe);
  add("set", options.sets != none.sets);
  return given;
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> RunBench(const Bench& bench,
                                                const BenchOptions& options) {
  const auto& takes = bench.takes;
  for (const std::string& name : Given(options)) {
    if (std::find(takes.begin(), takes.end(), name) != takes.end()) continue;
    return InputError(
        absl::StrCat("bench ", bench.name, " has no use for --", name),
        "--" + name,
        takes.empty()
            ? "leave it out: it takes no options"
            : "leave it out: it takes --" + absl::StrJoin(takes, ", --"));
  }
  LS_RETURN_IF_ERROR(ChosenIsa().status());
  auto cases = bench.run(options);
  if (!bench.first_rank_tells && cases.ok() && cases->empty()) {
    return InputError(
        absl::StrCat("bench ", bench.name, " has no case of such a name"),
        "--only " + options.only, "leave it out to see all");
  }
  return cases;
}

const std::vector<Bench>& AllBenches() {
  static const std::vector<Bench> all = {
      {"checkpoint",
       "copies, saves and loads of the state against the device",
       {"peer", "threads", "scratch", "rounds", "only", "recipe", "set"},
       BenchCheckpoint},
      {"comm",
       "collectives and messages between ranks against copying",
       {"rounds", "only", "ranks"},
       BenchComm,
       /*first_rank_tells=*/true},
      {"fingerprint",
       "fingerprints of tensors against reading them",
       {"rounds", "only"},
       BenchFingerprint},
      {"gemm",
       "matrix products against the register peak",
       {"peer", "threads", "rounds", "only"},
       BenchGemm},
      {"kernels",
       "every operation against the register peak or memory",
       {"threads", "rounds", "only"},
       BenchKernels},
      {"order", "which sample comes when: one source, a blend", {}, BenchOrder},
      {"prepare",
       "text to token files against reading and hashing it",
       {"scratch"},
       BenchPrepare},
      {"step",
       "a training step, its parts and its memory",
       {"peer", "threads", "scratch", "rounds", "only", "recipe", "set"},
       BenchStep},
      {"trace",
       "records compared, and what each level adds to a step",
       {"threads", "scratch", "rounds", "only", "recipe", "set"},
       BenchTrace},
  };
  return all;
}

}  // namespace lockstep
