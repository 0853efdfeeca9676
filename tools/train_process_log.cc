// What a rank's log has of its beginning and its end.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/config_layout.h"
#include "tools/train_process.h"

namespace lockstep {

// A launch that is refused leaves nothing in the run's folder, so not before.
void TrainProcess::OpenLog() {
  const absl::Status opened =
      log_.Open(*PosixFileSystem(), clock_, run_->run_dir, rank_.world->rank());
  if (!opened.ok()) {
    std::fprintf(stderr, "this rank keeps no log: %s\n",
                 std::string(opened.message()).c_str());
  }
  const int64_t done = static_cast<int64_t>(stepper_->state().iterations);
  log_.Say(absl::StrCat(
      "begins as rank ", rank_.world->rank(), " of ", rank_.world->size(), ", ",
      ToString(groups_->layout.shape), ", ", machine_.threads, " threads (",
      NameOf(machine_.isa), "), behind step ", done));
}

std::string TrainProcess::Ending(
    const absl::StatusOr<TrainResult>& result) const {
  if (!result.ok()) {
    return absl::StrCat("ends with ", ExitCodeFor(result.status()), ": ",
                        result.status().message());
  }
  return absl::StrCat(
      "ends behind step ", result->steps,
      result->stopped_by == 0
          ? ""
          : absl::StrCat(", told by signal ", result->stopped_by),
      ", unseed ", result->unseed);
}

absl::StatusOr<TrainResult> TrainProcess::Run() {
  LS_RETURN_IF_ERROR(SetUp());
  OpenLog();
  auto result = Train();
  log_.Say(Ending(result));
  return result;
}

}  // namespace lockstep
