#include "model/head_testing.h"

#include <cstring>

#include "absl/status/status.h"
#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "determinism/operation.h"
#include "determinism/state.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/head.h"
#include "model/kernels/testing.h"
#include "model/tensor_axis.h"
#include "parallel/thread_comm.h"

namespace lockstep {

namespace {

using head_testing::kGrid;
using head_testing::kRows;
using head_testing::kSamples;
using head_testing::kTokens;

constexpr uint64_t kSeed = 7;

std::string Bytes(const void* data, size_t count) {
  return {static_cast<const char*>(data), count};
}

// The rows of `all` that this rank's stream has.
Tensor StreamOf(const StepContext& context, const TestMatrix& all) {
  Tensor x = Tensor::Uninit(context.device, all.dtype(),
                            {context.stream_rows(), all.columns()});
  const auto row_bytes =
      static_cast<size_t>(all.columns()) * SizeOf(all.dtype());
  const int64_t here = context.stream_tokens();
  for (int64_t row = 0; row < x.dim(0); ++row) {
    const int64_t from = row / here * context.tokens +
                         context.tensor->FirstToken(context.tokens) +
                         row % here;
    std::memcpy(
        static_cast<char*>(x.raw()) + static_cast<size_t>(row) * row_bytes,
        all.row(from), row_bytes);
  }
  return x;
}

HeadBits RunRank(const HeadCase& c, const HeadRoom& room, TensorAxis& axis) {
  const ScopedFloatEnv env;
  const std::vector<Isa> isas = PresentIsas();
  Device device(2, isas[static_cast<size_t>(axis.share().index) % isas.size()]);
  OperationHooks hooks;
  StateRegistry registry;
  ParameterStore store(registry, device,
                       ListParameters(HeadConfig(), c.storage, kGrid), c.mode,
                       {.stages = {}, .tensor = axis.share()});
  store.Initialise(kSeed);
  store.ZeroGradients();
  for (Parameter& p : store.all()) p.gradient.exponent = 40;
  Head head(HeadConfig(), store, kGrid, axis.share(), room);
  const StepContext context = {.device = device,
                               .hooks = hooks,
                               .seed = kSeed,
                               .samples = kSamples,
                               .tokens = kTokens,
                               .samples_per_leaf = c.samples_per_leaf,
                               .loss_scale = 8,
                               .tensor = &axis};
  const Tensor x =
      StreamOf(context, RandomMatrix(c.storage, kRows, HeadConfig().hidden, 1));
  std::vector<int32_t> labels;
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < kRows; ++i) {
    mask.push_back(i % 7 != 3);
    labels.push_back(
        mask.back() ? static_cast<int32_t>(i * 97 % HeadConfig().vocab) : -1);
  }
  Tensor losses = Tensor::Uninit(device, DType::kF32, {kRows});
  HeadBits bits;
  head.Losses(context, x, {labels.data(), mask.data()}, losses);
  bits.evaluated.assign(losses.data<float>(), losses.data<float>() + kRows);
  const Tensor dx =
      head.LossesAndBackward(context, x, {labels.data(), mask.data()}, losses);
  bits.losses.assign(losses.data<float>(), losses.data<float>() + kRows);
  bits.dx = Bytes(dx.raw(), dx.bytes());
  const Parameter& weight = store.Get("lm_head.weight");
  const auto count = static_cast<size_t>(weight.count());
  bits.weight = c.mode == GradientMode::kGrid
                    ? Bytes(weight.gradient.grid, count * sizeof(int64_t))
                    : Bytes(weight.gradient.sum, count * sizeof(float));
  bits.peak_bytes = device.peak_bytes();
  bits.flops = device.flops();
  return bits;
}

}  // namespace

ModelConfig HeadConfig() {
  ModelConfig c;
  c.pattern = "-";
  c.hidden = 52;
  c.vocab = 900;  // of 1024 columns, so that 128 belong to padding alone
  c.ffn = 32;
  c.init_std = 0.2;
  return c;
}

std::vector<HeadBits> RunHead(const HeadCase& c, const HeadRoom& room) {
  std::vector<HeadBits> ranks(static_cast<size_t>(c.degree));
  const absl::Status status =
      RunThreadRanks(c.degree, [&](Communicator& comm) -> absl::Status {
        LS_ASSIGN_OR_RETURN(
            const auto axis,
            TensorAxis::Make(comm, {.slices = c.slices,
                                    .sequence_parallel = c.sequence_parallel,
                                    .copies = 1,
                                    .fast_sums = false}));
        ranks[static_cast<size_t>(comm.rank())] = RunRank(c, room, *axis);
        return axis->status();
      });
  EXPECT_TRUE(status.ok()) << status;
  return ranks;
}

}  // namespace lockstep
