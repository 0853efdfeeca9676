#include "tools/bisect/why_not_alone.h"

#include <optional>

#include "determinism/operation.h"
#include "tools/saved_operation/saved_operation.h"

namespace lockstep {
namespace {

bool IsPass(const std::string& phase) {
  return phase == NameOf(Phase::kForward) ||
         phase == NameOf(Phase::kRecompute) ||
         phase == NameOf(Phase::kBackward);
}

std::string WhyNoLayers(const std::string& phase) {
  if (IsPass(phase)) {
    return "it is the embedding's, the last norm's or the head's, and only "
           "layers are done again by themselves";
  }
  const std::optional<Phase> known = PhaseFromName(phase);
  switch (known.value_or(Phase::kSave)) {
    case Phase::kReduction:
      return "a final gradient is made of the sums of all micro-batches and "
             "ranks, which are not kept";
    case Phase::kClip:
      return "the norm is made of all gradients, which are not kept";
    case Phase::kOptimizer:
      return "an update overwrites the moments and weights that it reads";
    case Phase::kMessage:
    case Phase::kCollective:
      return "it is made by several ranks together";
    case Phase::kLoad:
    case Phase::kConversion:
      return "it is read from a checkpoint: `lockstep ckpt verify` and `ckpt "
             "diff` look at that";
    default:
      return "it is no computation of a layer";
  }
}

}  // namespace

std::string WhyNotAlone(const OperationIdentity& identity) {
  const bool layers = LayerOfScope(identity.scope) >= 0;
  return layers && IsPass(identity.phase) ? "" : WhyNoLayers(identity.phase);
}

}  // namespace lockstep
