// Where the time of one step goes, in the parts that a tax is told of.
//
// What it is: a clock read after every operation and after every phase of the
// step; what has passed since the last reading counts for the part that ended.
// What it is not: a profile by operation (tools/bench/step_profile.h). Why so:
// parts must be the same on all rungs, though their operations are not.
#ifndef LOCKSTEP_TOOLS_TAX_TAX_METER_H_
#define LOCKSTEP_TOOLS_TAX_TAX_METER_H_

#include <array>
#include <cstdint>

#include "determinism/clock.h"
#include "determinism/operation.h"
#include "tools/stepper.h"

namespace lockstep {

enum class TaxPlace : uint8_t {
  kForward,
  kBackward,
  kReduction,  // losses, gradients of all ranks, their norm, the grid's verdict
  kOptimizer,  // with the gathering of weights
  kFingerprints,
  kStep,  // all of it, samples and checks included
};
constexpr int kTaxPlaces = 6;
const char* NameOf(TaxPlace place);

using TaxTimes = std::array<int64_t, kTaxPlaces>;  // ns

class TaxMeter : public OperationObserver {
 public:
  explicit TaxMeter(Clock& clock) : clock_(clock) {}

  void Begin();
  void OnOperation(const OperationEvent& event) override;
  void Ended(StepPart part);
  TaxTimes End();

 private:
  int64_t Lap();
  void Count(TaxPlace place) { times_[static_cast<size_t>(place)] += Lap(); }

  Clock& clock_;
  int64_t began_ns_ = 0, last_ns_ = 0;
  TaxTimes times_ = {};
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TAX_TAX_METER_H_
