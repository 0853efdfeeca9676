#include "tests/tensor_parallel/tensor_rig.h"

#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "determinism/same_bits.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "model/tensor_cut.h"
#include "parallel/thread_comm.h"
#include "tests/tensor_parallel/tensor_rank.h"

namespace lockstep {
namespace {

// The whole tensor from what the ranks hold of it. Norms are sums over ranks
// where each has the leaves of its own tokens.
std::vector<int64_t> Unsharded(
    const ParameterSpec& spec, size_t at, bool sum_ranks,
    const std::vector<std::unique_ptr<TensorRank>>& ranks) {
  const auto degree = static_cast<int64_t>(ranks.size());
  std::vector<int64_t> whole(static_cast<size_t>(spec.count()));
  int64_t different = 0;
  for (int64_t r = 0; r < degree; ++r) {
    const GradientSum& gradient =
        ranks[static_cast<size_t>(r)]->store().all()[at].gradient;
    EXPECT_FALSE(gradient.stats->non_finite()) << spec.name;
    const int64_t* sums = gradient.grid;
    const bool first = OwnsCopy(spec.split, degree, r);
    ForHeldElements(spec, degree, r, [&](int64_t i, int64_t held) {
      const auto place = static_cast<size_t>(i);
      if (first || sum_ranks) {
        whole[place] += sums[held];
      } else {
        different += whole[place] != sums[held] ? 1 : 0;
      }
    });
  }
  EXPECT_EQ(different, 0) << "copies of " << spec.name;
  return whole;
}

TensorOutcome Collect(const TensorProblem& problem, bool sequence_parallel,
                      const std::vector<std::unique_ptr<TensorRank>>& ranks) {
  TensorOutcome outcome;
  outcome.losses = ranks[0]->losses();
  for (const auto& rank : ranks) {
    EXPECT_TRUE(SameBits<float>(rank->losses(), outcome.losses));
    outcome.flops.push_back(rank->flops());
  }
  const std::vector<ParameterSpec> specs =
      ListParameters(problem.config, problem.storage, problem.grid);
  for (size_t i = 0; i < specs.size(); ++i) {
    const bool sum = sequence_parallel && specs[i].split.dim < 0;
    outcome.names.push_back(specs[i].name);
    outcome.gradients.push_back(Unsharded(specs[i], i, sum, ranks));
  }
  return outcome;
}

}  // namespace

ModelConfig EveryLayerKind() {
  ModelConfig c;
  c.pattern = "M*-M";
  c.hidden = 52;
  c.vocab = 300;  // of four slices of 128 one is padding
  c.ffn = 100;
  c.heads = 8;
  c.kv_heads = 2;
  c.head_dim = 10;
  c.mamba_heads = 8;
  c.mamba_head_dim = 10;
  c.groups = 4;
  c.state = 18;
  c.chunk = 16;
  c.key_block = 32;
  c.init_std = 0.2;
  return c;
}

absl::StatusOr<TensorOutcome> RunTensorLayout(const TensorProblem& problem,
                                              const TensorLayout& layout) {
  const TensorBatch batch(problem);
  const auto degree = static_cast<size_t>(layout.degree);
  std::vector<std::unique_ptr<TensorAxis>> axes(degree);
  std::vector<std::unique_ptr<TensorRank>> ranks(degree);
  LS_RETURN_IF_ERROR(
      RunThreadRanks(layout.degree, [&](Communicator& comm) -> absl::Status {
        const auto index = static_cast<size_t>(comm.rank());
        LS_ASSIGN_OR_RETURN(
            axes[index],
            TensorAxis::Make(
                comm, {.slices = problem.slices,
                       .sequence_parallel = layout.sequence_parallel,
                       .copies = KeyValueCopies(problem.config, layout.degree),
                       .fast_sums = false}));
        ranks[index] =
            std::make_unique<TensorRank>(problem, layout, *axes[index]);
        ranks[index]->LoadWeights();
        return ranks[index]->Train(batch);
      }));
  return Collect(problem, layout.sequence_parallel && degree > 1, ranks);
}

void ExpectSameOutcome(const TensorOutcome& want, const TensorOutcome& got,
                       const std::string& what) {
  EXPECT_TRUE(SameBits<float>(got.losses, want.losses)) << what;
  ASSERT_EQ(got.names, want.names);
  for (size_t i = 0; i < want.names.size(); ++i) {
    EXPECT_TRUE(SameBits<int64_t>(got.gradients[i], want.gradients[i]))
        << what << ": " << want.names[i];
  }
}

}  // namespace lockstep
