#include "tools/step_fingerprint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "data/data_fingerprint.h"
#include "determinism/fingerprint.h"

namespace lockstep {
namespace {

void Append(std::vector<TensorFingerprint>& to,
            const std::vector<TensorFingerprint>& from) {
  to.insert(to.end(), from.begin(), from.end());
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
  const auto row = static_cast<size_t>(tokens);
  DataFingerprint sum;
  for (size_t s = 0; s < samples.size(); ++s) {
    sum += FingerprintSample(samples[s],
                             tokens_ST1.subspan(s * (row + 1), row + 1),
                             mask_ST.subspan(s * row, row));
  }
  return StepDataFingerprint(sum, tokens);
}

std::string LossField(std::span<const uint64_t> samples, int64_t tokens,
                      std::span<const float> losses_ST) {
  const auto row = static_cast<size_t>(tokens);
  Fingerprint sum;
  for (size_t s = 0; s < samples.size(); ++s) {
    const std::span<const float> losses = losses_ST.subspan(s * row, row);
    sum += FingerprintBytes(losses.data(), losses.size_bytes(),
                            samples[s] * losses.size_bytes());
  }
  const auto count = static_cast<int64_t>(samples.size());
  return FieldFingerprint({{"loss", DType::kF32, {count, tokens}, sum}});
}

std::string GradientField(const ParameterStore& store) {
  std::vector<TensorFingerprint> tensors;
  for (const Parameter& p : store.all()) {
    const auto bytes = static_cast<size_t>(p.spec.count()) * sizeof(float);
    tensors.push_back({p.spec.name, DType::kF32, p.spec.shape,
                       FingerprintBytes(p.grad, bytes)});
  }
  return FieldFingerprint(std::move(tensors));
}

void AddStateFields(const StateRegistry& registry,
                    std::map<std::string, std::string>& fields) {
  // Masters and moments stand in two fields; they are hashed once.
  constexpr StateGroupSet kOptimizerSet = SetOf(StateGroup::kMaster) |
                                          SetOf(StateGroup::kMoment) |
                                          SetOf(StateGroup::kCounter);
  auto optimizer = StateTensorFingerprints(registry, kOptimizerSet);
  auto rest = StateTensorFingerprints(registry, kSavedState & ~kOptimizerSet);
  Append(rest, optimizer);
  fields["optimizer"] = FieldFingerprint(std::move(optimizer));
  fields["state"] = FieldFingerprint(std::move(rest));
  fields["params"] = StateFingerprint(registry, SetOf(StateGroup::kRuntime));
  fields["rng"] = StateFingerprint(registry, SetOf(StateGroup::kRandom));
}

std::string StateField(const StateRegistry& registry) {
  return StateFingerprint(registry, kSavedState);
}

}  // namespace lockstep
