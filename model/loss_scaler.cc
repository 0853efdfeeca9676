#include "model/loss_scaler.h"

#include <algorithm>

namespace lockstep {

LossScaler::LossScaler(StateRegistry& registry, const PrecisionConfig& config)
    : Stateful(registry, "loss_scaler"),
      dynamic_(config.storage() == DType::kF16),
      scale_(dynamic_ ? config.initial_scale : 1.0) {}

void LossScaler::Clean() {
  if (!dynamic_) return;
  if (++clean_steps_ < kGrowthInterval) return;
  clean_steps_ = 0;
  hysteresis_ = kHysteresis;
  scale_ *= kGrowth;
}

void LossScaler::Overflow() {
  clean_steps_ = 0;
  if (--hysteresis_ > 0) return;
  scale_ = std::max(scale_ * kBackoff, kMinimum);
}

void LossScaler::VisitState(StateVisitor& visitor) {
  visitor.F64("scale", StateGroup::kScaler, scale_);
  visitor.U64("clean_steps", StateGroup::kScaler, clean_steps_);
  visitor.I64("hysteresis", StateGroup::kScaler, hysteresis_);
}

}  // namespace lockstep
