// The memory that a step needs, before any of it is asked for.
//
// What it is: the bytes of what a step cannot do without, each part beside the
// key that makes it large, and the refusal of a recipe that no machine like
// this one can run. What it is not: what a run will take: it is a lower bound,
// since a recipe that would fit must not be refused, and buffers that a layer
// needs for a moment are left out. Why so: a batch of 2^24 samples is a typing
// error, and the system's answer to it is a killed process without a word.
#ifndef LOCKSTEP_TOOLS_STEP_MEMORY_H_
#define LOCKSTEP_TOOLS_STEP_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/run_config.h"

namespace lockstep {

struct MemoryPart {
  std::string key;   // of the recipe: "batch.micro"
  std::string what;  // "activations of a micro-batch"
  double bytes = 0;
};

// Parameters and their state, the samples of the largest batch and of those
// that are read ahead, the activations that backward needs of one micro-batch,
// and its gradients that are one a leaf (N5).
std::vector<MemoryPart> StepMemory(const RunConfig& config);

// InputError if these do not fit into `memory_bytes` (<= 0: unknown): names the
// key of the largest part, and the bytes of all.
absl::Status CheckMemory(const RunConfig& config, int64_t memory_bytes);

// What a person should know of a step that passes over its data many times;
// "" for the others. `epoch_samples`: training samples of all sources.
std::string OversizedBatch(const RunConfig& config, int64_t epoch_samples);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEP_MEMORY_H_
