#include "tools/bisect/step_search.h"

#include <algorithm>

#include "determinism/status.h"
#include "tools/replay_window.h"

namespace lockstep {
namespace {

absl::StatusOr<ReplayedWindow> WithFingerprints(FileSystem& fs,
                                                const SideOptions& side) {
  WindowOptions window = WindowOf(side);
  window.from = std::max<int64_t>(side.checkpoint_at_most, 0) + 1;
  const WindowVisitor visitor = {.begin = [](int, Stepper& stepper) {
    stepper.SetFingerprints(true);
    return absl::OkStatus();
  }};
  return ReplayWindow(fs, side.run, window, visitor);
}

std::vector<std::string> FieldsThatDiffer(const StepReport& a,
                                          const StepReport& b) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : a.fingerprint) {
    const auto other = b.fingerprint.find(name);
    if (other == b.fingerprint.end() || other->second != value) {
      fields.push_back("fingerprint." + name);
    }
  }
  return fields;
}

}  // namespace

absl::StatusOr<FoundStep> SearchStep(FileSystem& fs, const SideOptions& a,
                                     const SideOptions& b) {
  LS_ASSIGN_OR_RETURN(const ReplayedWindow one, WithFingerprints(fs, a));
  LS_ASSIGN_OR_RETURN(const ReplayedWindow other, WithFingerprints(fs, b));
  const size_t steps = std::min(one.steps.size(), other.steps.size());
  for (size_t i = 0; i < steps; ++i) {
    FoundStep found = {
        .step = one.steps[i].report.step,
        .fields = FieldsThatDiffer(one.steps[i].report, other.steps[i].report)};
    if (!found.fields.empty()) return found;
  }
  return FoundStep{};
}

}  // namespace lockstep
