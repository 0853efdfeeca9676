#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "tools/bench/bench.h"
#include "tools/bench/benches.h"
#include "tools/bench/in_turns.h"
#include "tools/bench/scratch.h"
#include "tools/bench/trace_records.h"
#include "tools/bench/trace_steps.h"
#include "tools/trace_diff/trace_diff.h"

namespace lockstep {
namespace {

constexpr int64_t kRecords = 400'000;
constexpr int kRounds = 3;
// Records of each side a second; beside them the files read and thrown away.
absl::StatusOr<BenchCase> Diff(const std::string& name, const std::string& a,
                               const std::string& b, int rounds) {
  FileSystem& fs = *PosixFileSystem();
  absl::Status status;
  int64_t compared = 0;
  uint64_t bytes = 0;
  const PairedSeconds best = InTurns(
      rounds,
      [&] {
        const auto difference = CompareTraces(fs, a, b);
        status.Update(difference.status());
        if (difference.ok()) compared = difference->compared;
      },
      [&] {
        for (const std::string& folder : {a, b}) {
          const auto read = fs.ReadFile(folder + "/rank_0.step_00000000.trace");
          status.Update(read.status());
          if (read.ok()) bytes += read->size();
        }
      });
  LS_RETURN_IF_ERROR(status);
  const auto records = static_cast<double>(compared);
  return BenchCase{.name = name,
                   .rate = records / best.first,
                   .unit = "records/s",
                   .probe = records / best.second,
                   .ratio = best.second / best.first};
}

absl::Status AddDiffs(const BenchOptions& options, const Scratch& scratch,
                      std::vector<BenchCase>& cases) {
  FileSystem& fs = *PosixFileSystem();
  const int rounds =
      options.rounds > 0 ? static_cast<int>(options.rounds) : kRounds;
  struct Other {
    std::string name;
    int64_t from;
  };
  LS_RETURN_IF_ERROR(WriteTraceRecords(fs, scratch / "a", kRecords, -1));
  for (const Other& other : {Other{"diff, equal", -1},
                             Other{"diff, other from the middle", kRecords / 2},
                             Other{"diff, other from the start", 0}}) {
    if (!absl::StrContains(other.name, options.only)) continue;
    LS_RETURN_IF_ERROR(
        WriteTraceRecords(fs, scratch / "b", kRecords, other.from));
    LS_ASSIGN_OR_RETURN(BenchCase one,
                        Diff(other.name, scratch / "a", scratch / "b", rounds));
    cases.push_back(std::move(one));
    LS_RETURN_IF_ERROR(fs.RemoveTree(scratch / "b"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchTrace(const BenchOptions& options) {
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  std::vector<BenchCase> cases;
  LS_RETURN_IF_ERROR(AddDiffs(options, scratch, cases));
  LS_ASSIGN_OR_RETURN(const std::vector<BenchCase> steps,
                      TraceStepCases(options, scratch / "."));
  cases.insert(cases.end(), steps.begin(), steps.end());
  return cases;
}

}  // namespace lockstep
