// The fingerprint fields of one step (N11).
//
// What it is: loss, grads, params, optimizer, rng, data and state, each 32 hex
// digits over what the contract names. What it is not: the fingerprint itself
// (determinism/fingerprint.h). Why so: tests, traces and metrics must agree on
// what each field covers.
#ifndef LOCKSTEP_TOOLS_STEP_FINGERPRINT_H_
#define LOCKSTEP_TOOLS_STEP_FINGERPRINT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "determinism/state.h"
#include "model/parameters.h"

namespace lockstep {

// Rows of samples * (tokens + 1) ids into inputs and labels, samples * tokens.
void SplitInputsAndLabels(const int32_t* tokens_ST1, int64_t samples,
                          int64_t tokens, int32_t* ids, int32_t* labels);

// Token ids and masks keyed by (global sample index, position); `samples` are
// the indices, one a row.
std::string DataField(std::span<const uint64_t> samples, int64_t tokens,
                      std::span<const int32_t> tokens_ST1,
                      std::span<const uint8_t> mask_ST);

// The fp32 loss of every token, keyed like the data.
std::string LossField(std::span<const uint64_t> samples, int64_t tokens,
                      std::span<const float> losses_ST);

// Final gradients, before clipping.
std::string GradientField(const ParameterStore& store);

// params, optimizer, rng and state of the registry.
void AddStateFields(const StateRegistry& registry,
                    std::map<std::string, std::string>& fields);

// The `state` field alone: what `unseed` prints.
std::string StateField(const StateRegistry& registry);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEP_FINGERPRINT_H_
