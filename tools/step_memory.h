// The memory that a step needs, before any of it is asked for.
//
// What it is: the bytes of what a step cannot do without, each part beside the
// key that makes it large, and the refusal of a recipe that no machine like
// this one can run. What it is not: all that a process will take: transports,
// threads of kernels and libraries have memory of their own. Why so: a batch of
// 2^24 samples is a typing error, and the system's answer to it is a killed
// process without a word. The layout counts, by the planner's own formula
// (model/layout_cost.h).
#ifndef LOCKSTEP_TOOLS_STEP_MEMORY_H_
#define LOCKSTEP_TOOLS_STEP_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/run_config.h"

namespace lockstep {

struct MemoryPart {
  std::string key;   // of the recipe: "batch.micro"
  std::string what;  // "activations of a micro-batch"
  double bytes = 0;
};

// Of the rank that needs most: parameters and their state, the samples of the
// largest batch and of those that are read ahead, and the activations of the
// micro-batches in flight; and what `ranks_here` - 1 more ranks keep at least,
// who share its machine. The layout has passed its checks.
absl::StatusOr<std::vector<MemoryPart>> StepMemory(const RunConfig& config,
                                                   int64_t ranks_here = 1);

// InputError if these do not fit into `memory_bytes` (<= 0: unknown): names the
// key of the largest part, and the bytes of all.
absl::Status CheckMemory(const RunConfig& config, int64_t memory_bytes,
                         int64_t ranks_here = 1);

// What a person should know of a step that passes over its data many times;
// "" for the others. `epoch_samples`: training samples of all sources.
std::string OversizedBatch(const RunConfig& config, int64_t epoch_samples);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEP_MEMORY_H_
