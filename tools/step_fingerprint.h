// The fingerprint fields of one step (N11).
//
// What it is: loss, grads, params, optimizer, rng, data and state, each 32 hex
// digits over what the contract names: on one rank, and added up over the ranks
// of a layout, each logical element once. What it is not: the fingerprint
// itself (determinism/fingerprint.h). Why so: tests, traces and metrics must
// agree on what each field covers.
#ifndef LOCKSTEP_TOOLS_STEP_FINGERPRINT_H_
#define LOCKSTEP_TOOLS_STEP_FINGERPRINT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/data_fingerprint.h"
#include "determinism/state.h"
#include "determinism/state_fingerprint.h"
#include "model/parameters.h"
#include "parallel/communicator.h"

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

// What goes into a step, as far as this rank has it.
struct StepInputs {
  DataFingerprint data = {};
  Fingerprint loss = {};
  std::vector<TensorFingerprint> grads = {};
};
// The rank's samples; a rank that does not count its replica's losses leaves
// them out.
void AddSamples(std::span<const uint64_t> samples, int64_t tokens,
                std::span<const int32_t> tokens_ST1,
                std::span<const uint8_t> mask_ST,
                std::span<const float> losses_ST, StepInputs& inputs);
// Final gradients of the owned rows, before clipping; their fingerprints come
// from SummariseGradients.
std::vector<TensorFingerprint> GradientShares(
    const ParameterStore& store, std::span<const Fingerprint> fingerprints);

// data, loss and grads of all ranks. Collective.
absl::Status AddInputFields(Communicator& world, StepInputs inputs,
                            int64_t tokens,
                            std::map<std::string, std::string>& fields);

// params, optimizer, rng and state of the registries of all ranks. `known`:
// what was fingerprinted as it was written. Collective.
absl::Status AddStateFields(Communicator& world, const StateRegistry& registry,
                            const KnownFingerprints& known,
                            std::map<std::string, std::string>& fields);

// The `state` field alone: what `unseed` prints. Collective.
absl::StatusOr<std::string> StateField(Communicator& world,
                                       const StateRegistry& registry);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEP_FINGERPRINT_H_
