#include "ckpt/last_generation.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "ckpt/ledger.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Of "launch_00000007.json", and of what a kill left of its writing; 0: no
// launch's file.
int64_t GenerationOf(absl::string_view name) {
  int64_t generation = 0;
  absl::ConsumeSuffix(&name, ".tmp");
  const bool is_launch = absl::ConsumePrefix(&name, "launch_") &&
                         absl::ConsumeSuffix(&name, ".json") &&
                         absl::SimpleAtoi(name, &generation);
  return is_launch ? std::max<int64_t>(generation, 0) : 0;
}

}  // namespace

absl::StatusOr<int64_t> LastGenerationSeen(FileSystem& file_system,
                                           const std::string& run_dir) {
  int64_t last = 0;
  const absl::StatusOr<std::vector<std::string>> names =
      file_system.List(JoinPath(run_dir, "launches"));
  if (!names.ok() && !absl::IsNotFound(names.status())) return names.status();
  if (names.ok()) {
    for (const std::string& name : *names) {
      last = std::max(last, GenerationOf(name));
    }
  }
  const absl::StatusOr<LedgerReport> ledger = ReadLedger(file_system, run_dir);
  if (!ledger.ok()) return last;
  for (const LedgerEntry& entry : ledger->entries) {
    const std::string kept = BaseName(entry.Field("manifest"));
    last = std::max(last, GenerationOf(kept));
  }
  return last;
}

}  // namespace lockstep
