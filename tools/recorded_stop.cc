#include "tools/recorded_stop.h"

#include <string_view>

#include "absl/strings/numbers.h"
#include "ckpt/ledger.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

std::string WithoutAdvice(std::string_view message) {
  return std::string(message.substr(0, message.find("\n  do: ")));
}

}  // namespace

absl::StatusOr<RecordedStop> ReadRecordedStop(FileSystem& fs,
                                              const std::string& run_dir) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  RecordedStop stop;
  if (ledger.entries.empty()) return stop;
  const LedgerEntry& last = ledger.entries.back();
  const int numeric = ExitCodeFor(absl::OutOfRangeError(""));
  int64_t done = 0;
  if (last.event != "stop" || last.Field("exit") != std::to_string(numeric) ||
      !absl::SimpleAtoi(last.Field("step"), &done)) {
    return stop;
  }
  stop.step = done + 1;
  stop.why = WithoutAdvice(last.Field("error"));
  return stop;
}

std::string WhyStopped(const absl::Status& status) {
  return WithoutAdvice(std::string(status.message()));
}

}  // namespace lockstep
