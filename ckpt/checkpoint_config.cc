#include "ckpt/checkpoint_config.h"

namespace lockstep {

void DescribeSection(Section& section, CheckpointConfig& config) {
  section.SetTrajectory(false);
  section.Int(
      "every", config.every,
      {.min = 0, .help = "steps between checkpoints; 0: one at the end"});
  section.Int("keep", config.keep,
              {.min = 1, .help = "newest checkpoints that stay"});
  section.Int(
      "keep_every", config.keep_every,
      {.min = 0, .help = "checkpoints of these steps stay for good; 0: none"});
  section.Bool("async", config.async,
               {.help = "write checkpoints while training goes on; takes "
                        "memory for a copy of the state"});
}

}  // namespace lockstep
