// Initial values of parameters, each a function of (seed, tensor, element).
//
// What it is: the draws of N9 (stream kInit) turned into the distributions of
// Mamba-2 and Megatron. What it is not: the choice of distribution, which the
// parameter list makes. Why so: no draw depends on a shard, a rank or on what
// was drawn before, so any layout starts from the same bits.
#ifndef LOCKSTEP_MODEL_INITIALISE_H_
#define LOCKSTEP_MODEL_INITIALISE_H_

#include <cstdint>
#include <span>

#include "model/device.h"

namespace lockstep {

struct InitSpec;

// Fills `values` by `init`: elements of the unsharded tensor number `index`,
// from `first_element` on.
void InitialiseTensor(Device& device, uint64_t seed, int index,
                      const InitSpec& init, int64_t first_element,
                      std::span<float> values);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_INITIALISE_H_
