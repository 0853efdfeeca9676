#include "tests/tensor_parallel/tensor_rank.h"

#include <utility>

#include "determinism/environment.h"
#include "model/split.h"

namespace lockstep {
namespace {

constexpr uint64_t kSeed = 20261130;
// Entries of up to 2^12 keep their place, three samples do not overflow.
constexpr int kExponent = 40;

Isa IsaOfRank(int64_t index) {
  const std::vector<Isa> isas = PresentIsas();
  return isas[static_cast<size_t>(index) % isas.size()];
}

}  // namespace

TensorBatch::TensorBatch(const TensorProblem& problem) {
  const int64_t rows = problem.samples * problem.tokens;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t token = i % problem.tokens;
    ids.push_back(static_cast<int32_t>(i * i * 31 % problem.config.vocab));
    labels.push_back(
        static_cast<int32_t>((i * 97 + 13) % problem.config.vocab));
    mask.push_back(i % 7 != 3);
    segments.push_back(static_cast<int32_t>((token > 4) + (token > 21)));
  }
  for (int64_t s = 0; s < problem.samples; ++s) {
    sample_ids.push_back(static_cast<uint64_t>(1000 + 3 * s));
  }
}

TensorRank::TensorRank(const TensorProblem& problem, const TensorLayout& layout,
                       TensorAxis& axis)
    : problem_(problem),
      axis_(axis),
      device_(1, IsaOfRank(axis.share().index)),
      store_(registry_, device_,
             ListParameters(problem.config, problem.storage, problem.grid),
             GradientMode::kGrid, {.stages = {}, .tensor = axis.share()}),
      stage_(problem.config, store_, problem.grid, layout.recompute,
             axis.share()) {
  for (Parameter& p : store_.all()) p.gradient.exponent = kExponent;
}

void TensorRank::LoadWeights() { store_.Initialise(kSeed); }

absl::Status TensorRank::Train(const TensorBatch& batch) {
  store_.ZeroGradients();
  const StepContext context = {
      .device = device_,
      .hooks = hooks_,
      .seed = kSeed,
      .sample_ids = batch.sample_ids,
      .samples = problem_.samples,
      .tokens = problem_.tokens,
      .loss_scale = problem_.storage == DType::kF16 ? 64.0 : 1.0,
      .segments = problem_.resets ? batch.segments.data() : nullptr,
      .tensor = &axis_};
  const Tensor losses = stage_.TrainMicroBatch(
      context, {batch.ids.data(), {batch.labels.data(), batch.mask.data()}});
  losses_.assign(losses.data<float>(), losses.data<float>() + losses.count());
  return axis_.status();
}

}  // namespace lockstep
