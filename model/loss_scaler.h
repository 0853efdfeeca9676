// The dynamic loss scale of fp16 training (MODEL 4).
//
// What it is: the scale, when it grows and when it backs off, as registered
// state. What it is not: the test for overflow, or the skipping of a step: the
// stepper decides those once, from reduced values, and tells the scaler. In
// fp32 and bf16 it stands still at 1. Why so: a scale that came back wrong from
// a resume shifts every later step (huggingface/transformers#34053), so scale,
// growth and hysteresis are state, and steps, skipped steps and updates are
// counters of their own.
#ifndef LOCKSTEP_MODEL_LOSS_SCALER_H_
#define LOCKSTEP_MODEL_LOSS_SCALER_H_

#include <cstdint>

#include "determinism/state.h"
#include "model/precision.h"

namespace lockstep {

class LossScaler : public Stateful {
 public:
  LossScaler(StateRegistry& registry, const PrecisionConfig& config);

  bool dynamic() const { return dynamic_; }
  double scale() const { return scale_; }
  // At the smallest scale an overflow is no longer the scale's fault.
  bool at_minimum() const { return scale_ <= kMinimum; }

  // After a step whose losses and gradients were finite, and after one whose
  // were not (the step is skipped).
  void Clean();
  void Overflow();

  void VisitState(StateVisitor& visitor) override;

 private:
  static constexpr double kMinimum = 1.0;
  static constexpr double kGrowth = 2.0;
  static constexpr double kBackoff = 0.5;
  static constexpr uint64_t kGrowthInterval = 1000;  // clean steps
  static constexpr int64_t kHysteresis = 2;          // overflows

  const bool dynamic_;
  double scale_;
  uint64_t clean_steps_ = 0;
  // Given back by growth alone, so repeated overflows halve every time.
  int64_t hysteresis_ = kHysteresis;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_LOSS_SCALER_H_
