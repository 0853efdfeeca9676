#include "tools/tax/tax_meter.h"

namespace lockstep {

const char* NameOf(TaxPlace place) {
  static constexpr const char* kNames[kTaxPlaces] = {
      "forward", "backward", "reduction", "optimizer", "fingerprints", "step"};
  return kNames[static_cast<int>(place)];
}

int64_t TaxMeter::Lap() {
  const int64_t now = clock_.MonotonicNanos(), since = now - last_ns_;
  last_ns_ = now;
  return since;
}

void TaxMeter::Begin() {
  times_ = {};
  began_ns_ = last_ns_ = clock_.MonotonicNanos();
}

// Operations behind backward are whole phases of the step, which tell their
// end.
void TaxMeter::OnOperation(const OperationEvent& event) {
  if (event.phase == Phase::kForward) Count(TaxPlace::kForward);
  if (event.phase == Phase::kRecompute || event.phase == Phase::kBackward) {
    Count(TaxPlace::kBackward);
  }
}

void TaxMeter::Ended(StepPart part) {
  switch (part) {
    case StepPart::kSamples:
    case StepPart::kChecks:
      Lap();  // of the step alone
      return;
    case StepPart::kGradients:
    case StepPart::kReduction:
      return Count(TaxPlace::kReduction);
    case StepPart::kUpdate:
      return Count(TaxPlace::kOptimizer);
    case StepPart::kFingerprints:
      return Count(TaxPlace::kFingerprints);
  }
}

TaxTimes TaxMeter::End() {
  Lap();
  times_[static_cast<size_t>(TaxPlace::kStep)] = last_ns_ - began_ns_;
  return times_;
}

}  // namespace lockstep
