// What a stepper is given beside its recipe, and what its last step was made
// of.
//
// What it is: two plain records. What it is not: the stepper (stepper.h). Why
// so: whoever keeps samples or names a machine need not know how a step goes.
#ifndef LOCKSTEP_TOOLS_STEPPER_OPTIONS_H_
#define LOCKSTEP_TOOLS_STEPPER_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "determinism/environment.h"

namespace lockstep {

struct StepperOptions {
  int threads = 1;
  Isa isa = Isa::kScalar;
  int64_t schedule_length_samples = 0;
};

// Sample after sample in ascending order.
struct StepSamples {
  std::vector<uint64_t> ids;        // global indices
  std::vector<int32_t> tokens_ST1;  // samples x (tokens + 1)
  std::vector<uint8_t> mask_ST;     // 1 where the label counts
  std::vector<float> losses_ST;     // nats; 0 where the label does not count
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEPPER_OPTIONS_H_
