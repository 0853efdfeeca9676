#include "tools/bisect/poisoned_replay.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "model/device_poison.h"
#include "tools/window_traces.h"

namespace lockstep {
namespace {

WindowVisitor Both(const WindowVisitor& one, const WindowVisitor& other) {
  return {.before = other.before,
          .begin = [one, other](int rank, Stepper& stepper) -> absl::Status {
            LS_RETURN_IF_ERROR(one.begin(rank, stepper));
            return other.begin ? other.begin(rank, stepper) : absl::OkStatus();
          },
          .step = [one, other](int rank, Stepper& stepper,
                               const ReplayedStep& step) -> absl::Status {
            LS_RETURN_IF_ERROR(one.step(rank, stepper, step));
            return other.step ? other.step(rank, stepper, step)
                              : absl::OkStatus();
          }};
}

}  // namespace

std::string PoisonedTraces(const SideOptions& side) {
  return absl::StrCat(side.traces, "_poisoned");
}

absl::StatusOr<bool> ReplayPoisoned(FileSystem& fs, const SideOptions& side,
                                    const WindowVisitor& visitor) {
  LS_ASSIGN_OR_RETURN(
      const std::unique_ptr<WindowTraces> traces,
      WindowTraces::Make(fs, PoisonedTraces(side), TraceOf(side)));
  const WindowVisitor recorder = traces->Visitor();
  WindowOptions window = WindowOf(side);
  window.sets.push_back("parallel.overlap=false");
  const ScopedPoison poison;
  const auto replayed =
      ReplayWindow(fs, side.run, window, Both(recorder, visitor));
  LS_RETURN_IF_ERROR(traces->Close());
  LS_RETURN_IF_ERROR(replayed.status());
  return std::all_of(replayed->steps.begin(), replayed->steps.end(),
                     [](const ReplayedStep& step) { return step.recurs(); });
}

}  // namespace lockstep
