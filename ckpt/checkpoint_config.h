// The recipe's `checkpoint` section: when to save and what to keep.
//
// No key of it is part of the trajectory: saving changes no bit (N12).

#ifndef CKPT_CHECKPOINT_CONFIG_H_
#define CKPT_CHECKPOINT_CONFIG_H_

#include <cstdint>

#include "recipes/section.h"

namespace lockstep {

struct CheckpointConfig {
  int64_t every = 0;       // steps; 0: only at the end
  int64_t keep = 3;        // newest checkpoints that stay
  int64_t keep_every = 0;  // steps; multiples of it stay for good; 0: none
  bool async = true;       // written while training goes on
};

void DescribeSection(Section& section, CheckpointConfig& config);

}  // namespace lockstep

#endif  // CKPT_CHECKPOINT_CONFIG_H_
