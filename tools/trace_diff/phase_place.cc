#include "tools/trace_diff/phase_place.h"

#include "determinism/operation.h"

namespace lockstep {

int PlaceInStep(std::string_view phase, std::string_view operation) {
  enum Place {
    kState,
    kConverted,
    kPasses,
    kSummed,
    kFinal,
    kNorm,
    kUpdated,
    kGathered,
    kSaved,
    kAfter
  };
  if (phase.empty()) return kAfter;
  switch (PhaseFromName(phase).value_or(Phase::kForward)) {
    case Phase::kLoad:
      return kState;
    case Phase::kConversion:
      return kConverted;
    case Phase::kReduction:
      return kFinal;
    case Phase::kClip:
      return kNorm;
    case Phase::kOptimizer:
      return kUpdated;
    case Phase::kCollective:
      return operation == "all_gather" ? kGathered : kSummed;
    case Phase::kSave:
      return kSaved;
    default:
      return kPasses;
  }
}

bool IsOfLaunch(std::string_view phase) {
  return phase == NameOf(Phase::kLoad) || phase == NameOf(Phase::kSave) ||
         phase == NameOf(Phase::kConversion);
}

bool IsExchange(std::string_view phase) {
  return phase == NameOf(Phase::kMessage) ||
         phase == NameOf(Phase::kCollective);
}

bool IsReceive(std::string_view phase, std::string_view operation) {
  return phase == NameOf(Phase::kMessage) && operation == "receive";
}

}  // namespace lockstep
