#include "tools/step_fingerprint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "determinism/check.h"
#include "determinism/fingerprint.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"

namespace lockstep {
namespace {

void Append(std::vector<TensorFingerprint>& to,
            const std::vector<TensorFingerprint>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Fingerprint LossShare(std::span<const uint64_t> samples, int64_t tokens,
                      std::span<const float> losses_ST) {
  const auto row = static_cast<size_t>(tokens);
  Fingerprint sum;
  for (size_t s = 0; s < samples.size(); ++s) {
    const std::span<const float> losses = losses_ST.subspan(s * row, row);
    sum += FingerprintBytes(losses.data(), losses.size_bytes(),
                            samples[s] * losses.size_bytes());
  }
  return sum;
}

DataFingerprint DataShare(std::span<const uint64_t> samples, int64_t tokens,
                          std::span<const int32_t> tokens_ST1,
                          std::span<const uint8_t> mask_ST) {
  const auto row = static_cast<size_t>(tokens);
  DataFingerprint sum;
  for (size_t s = 0; s < samples.size(); ++s) {
    sum += FingerprintSample(samples[s],
                             tokens_ST1.subspan(s * (row + 1), row + 1),
                             mask_ST.subspan(s * row, row));
  }
  return sum;
}

std::string LossOf(const Fingerprint& sum, int64_t samples, int64_t tokens) {
  return FieldFingerprint({{"loss", DType::kF32, {samples, tokens}, sum}});
}

}  // namespace

void SplitInputsAndLabels(const int32_t* tokens_ST1, int64_t samples,
                          int64_t tokens, int32_t* ids, int32_t* labels) {
  for (int64_t s = 0; s < samples; ++s) {
    const int32_t* row = tokens_ST1 + s * (tokens + 1);
    std::copy_n(row, tokens, ids + s * tokens);
    std::copy_n(row + 1, tokens, labels + s * tokens);
  }
}

std::string DataField(std::span<const uint64_t> samples, int64_t tokens,
                      std::span<const int32_t> tokens_ST1,
                      std::span<const uint8_t> mask_ST) {
  return StepDataFingerprint(DataShare(samples, tokens, tokens_ST1, mask_ST),
                             tokens);
}

std::string LossField(std::span<const uint64_t> samples, int64_t tokens,
                      std::span<const float> losses_ST) {
  return LossOf(LossShare(samples, tokens, losses_ST),
                static_cast<int64_t>(samples.size()), tokens);
}

void AddSamples(std::span<const uint64_t> samples, int64_t tokens,
                std::span<const int32_t> tokens_ST1,
                std::span<const uint8_t> mask_ST,
                std::span<const float> losses_ST, StepInputs& inputs) {
  inputs.data += DataShare(samples, tokens, tokens_ST1, mask_ST);
  inputs.loss += LossShare(samples, tokens, losses_ST);
}

std::vector<TensorFingerprint> GradientShares(
    const ParameterStore& store, std::span<const Fingerprint> fingerprints) {
  std::vector<TensorFingerprint> tensors;
  for (const ParameterSpec& spec : store.specs()) {
    tensors.push_back({spec.name, DType::kF32, spec.shape, {}});
  }
  LS_CHECK_EQ(fingerprints.size(), store.all().size());
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    const auto at = static_cast<size_t>(store.all()[i].spec.index);
    tensors[at].value = fingerprints[i];
  }
  return tensors;
}

absl::Status AddInputFields(Communicator& world, StepInputs inputs,
                            int64_t tokens,
                            std::map<std::string, std::string>& fields) {
  std::vector<Fingerprint*> sums = {&inputs.data.tokens, &inputs.data.mask,
                                    &inputs.loss};
  for (TensorFingerprint& tensor : inputs.grads) sums.push_back(&tensor.value);
  LS_RETURN_IF_ERROR(AddOverRanks(world, sums));
  LS_RETURN_IF_ERROR(AddOverRanks(world, std::span(&inputs.data.samples, 1)));
  fields["data"] = StepDataFingerprint(inputs.data, tokens);
  fields["loss"] = LossOf(inputs.loss, inputs.data.samples, tokens);
  fields["grads"] = FieldFingerprint(std::move(inputs.grads));
  return absl::OkStatus();
}

absl::Status AddStateFields(Communicator& world, const StateRegistry& registry,
                            const KnownFingerprints& known,
                            std::map<std::string, std::string>& fields) {
  // Masters and moments stand in two fields; they are hashed once.
  constexpr StateGroupSet kOptimizerSet = SetOf(StateGroup::kMaster) |
                                          SetOf(StateGroup::kMoment) |
                                          SetOf(StateGroup::kCounter);
  LS_ASSIGN_OR_RETURN(auto optimizer,
                      WholeState(world, registry, kOptimizerSet, known));
  LS_ASSIGN_OR_RETURN(
      auto rest, WholeState(world, registry, kSavedState & ~kOptimizerSet));
  LS_ASSIGN_OR_RETURN(
      auto params,
      WholeState(world, registry, SetOf(StateGroup::kRuntime), known));
  Append(rest, optimizer);
  fields["optimizer"] = FieldFingerprint(std::move(optimizer));
  fields["state"] = FieldFingerprint(std::move(rest));
  fields["params"] = FieldFingerprint(std::move(params));
  fields["rng"] = StateFingerprint(registry, SetOf(StateGroup::kRandom));
  return absl::OkStatus();
}

absl::StatusOr<std::string> StateField(Communicator& world,
                                       const StateRegistry& registry) {
  LS_ASSIGN_OR_RETURN(auto state, WholeState(world, registry, kSavedState));
  return FieldFingerprint(std::move(state));
}

}  // namespace lockstep
