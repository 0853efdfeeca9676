#include "tools/bisect/step_search.h"

#include <algorithm>

#include "determinism/status.h"
#include "tools/bisect/asked_replay.h"
#include "tools/replay_window.h"

namespace lockstep {
namespace {

constexpr char kStopped[] = "stop";  // the field of a step that stopped a run

int64_t FirstOf(const SideOptions& side) {
  return std::max<int64_t>(side.checkpoint_at_most, 0) + 1;
}

absl::StatusOr<StepFields> FieldsHere(FileSystem& fs, const SideOptions& side) {
  WindowOptions window = WindowOf(side);
  window.from = FirstOf(side);
  const WindowVisitor visitor = {.begin = [](int, Stepper& stepper) {
    stepper.SetFingerprints(true);
    return absl::OkStatus();
  }};
  LS_ASSIGN_OR_RETURN(const ReplayedWindow replayed,
                      ReplayWindow(fs, side.run, window, visitor));
  StepFields fields;
  for (const ReplayedStep& step : replayed.steps) {
    // One that its numbers refuse has no fingerprints, and is not a step that
    // differs in all of them.
    auto& of_step = fields[step.report.step];
    if (step.stopped.empty()) {
      of_step = step.report.fingerprint;
    } else {
      of_step = {{kStopped, step.stopped}};
    }
  }
  return fields;
}

absl::StatusOr<StepFields> FieldsOf(FileSystem& fs, SideOptions side) {
  if (side.binary.empty()) return FieldsHere(fs, side);
  side.traces += "_fields";
  return AskFields(fs, side, FirstOf(side));
}

std::vector<std::string> FieldsThatDiffer(
    const std::map<std::string, std::string>& a,
    const std::map<std::string, std::string>& b) {
  if (a.contains(kStopped) || b.contains(kStopped)) {
    return a == b ? std::vector<std::string>()
                  : std::vector<std::string>{kStopped};
  }
  std::vector<std::string> fields;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second != value) {
      fields.push_back("fingerprint." + name);
    }
  }
  return fields;
}

}  // namespace

absl::StatusOr<FoundStep> SearchStep(FileSystem& fs, const SideOptions& a,
                                     const SideOptions& b) {
  LS_ASSIGN_OR_RETURN(const StepFields one, FieldsOf(fs, a));
  LS_ASSIGN_OR_RETURN(const StepFields other, FieldsOf(fs, b));
  for (const auto& [step, fields] : one) {
    const auto there = other.find(step);
    if (there == other.end()) continue;
    FoundStep found = {.step = step,
                       .fields = FieldsThatDiffer(fields, there->second)};
    if (!found.fields.empty()) return found;
  }
  return FoundStep{};
}

}  // namespace lockstep
