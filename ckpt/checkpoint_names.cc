// Names of checkpoints and of the folder that holds them.

#include <cstdio>
#include <string>
#include <string_view>

#include "ckpt/checkpoint_index.h"

namespace lockstep {

std::string CheckpointName(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof(name), "step_%08lld",
                static_cast<long long>(step));
  return name;
}

int64_t StepOfCheckpointName(std::string_view name) {
  constexpr std::string_view kPrefix = "step_";
  if (!name.starts_with(kPrefix)) return -1;
  const std::string_view digits = name.substr(kPrefix.size());
  if (digits.size() < 8 || digits.size() > 18) return -1;
  int64_t step = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
    step = step * 10 + (c - '0');
  }
  // One step, one name.
  return CheckpointName(step) == name ? step : -1;
}

std::string CheckpointsDir(const std::string& run_dir) {
  return JoinPath(run_dir, "checkpoints");
}

}  // namespace lockstep
