// The promise of N4 for a whole model: one micro-batch, forward and backward,
// gives the same bits on every tensor degree that divides the grid.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "model/tensor_axis.h"
#include "parallel/thread_comm.h"
#include "tests/tensor_parallel/tensor_rank.h"
#include "tests/tensor_parallel/tensor_rig.h"

namespace lockstep {
namespace {

TensorOutcome RunOn(const TensorProblem& problem, const TensorLayout& layout) {
  auto outcome = RunTensorLayout(problem, layout);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? *std::move(outcome) : TensorOutcome{};
}

std::vector<TensorLayout> Layouts() {
  std::vector<TensorLayout> layouts = {{1, false, true}};
  for (const int degree : {2, 4}) {
    for (const bool sequence_parallel : {false, true}) {
      for (const bool recompute : {false, true}) {
        layouts.push_back({degree, sequence_parallel, recompute});
      }
    }
  }
  return layouts;
}

std::string NameOfLayout(const TensorLayout& layout) {
  return "degree " + std::to_string(layout.degree) +
         (layout.sequence_parallel ? ", sequence parallel" : "") +
         (layout.recompute ? ", recompute" : "");
}

int64_t Differing(const TensorOutcome& a, const TensorOutcome& b) {
  int64_t tensors = 0;
  for (size_t i = 0; i < a.gradients.size(); ++i) {
    tensors += a.gradients[i] != b.gradients[i] ? 1 : 0;
  }
  return tensors;
}

class TensorParallelTest : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Storage, TensorParallelTest,
                         testing::Values(DType::kF32, DType::kBF16,
                                         DType::kF16),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(TensorParallelTest, N4EveryDegreeGivesTheSameBits) {
  int64_t compared = 0;
  for (const double dropout : {0.0, 0.25}) {
    for (const bool resets : {false, true}) {
      TensorProblem problem = {
          .config = EveryLayerKind(), .storage = GetParam(), .resets = resets};
      problem.config.hidden_dropout = dropout;
      const TensorOutcome one = RunOn(problem, {});
      ASSERT_EQ(one.losses.size(), 120u);
      for (const TensorLayout& layout : Layouts()) {
        ExpectSameOutcome(one, RunOn(problem, layout),
                          NameOfLayout(layout) + ", dropout " +
                              std::to_string(dropout) +
                              (resets ? ", resets" : ""));
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 36);
}

// One key/value head for all ranks, one for two, one each, two each.
TEST_P(TensorParallelTest, N4AnyNumberOfKeyValueHeads) {
  for (const int64_t kv_heads : {1, 2, 4, 8}) {
    TensorProblem problem = {.config = EveryLayerKind(), .storage = GetParam()};
    problem.config.pattern = "*";
    problem.config.head_dim = 12;
    problem.config.kv_heads = kv_heads;
    const TensorOutcome one = RunOn(problem, {});
    for (const int degree : {2, 4}) {
      ExpectSameOutcome(one, RunOn(problem, {degree, degree == 4, false}),
                        std::to_string(kv_heads) + " key/value heads, degree " +
                            std::to_string(degree));
    }
  }
}

// The canary: slices decide bits. One slice is what a rank alone does on the
// lower rungs, two are those of two ranks there. Rounding to 16 bits hides most
// of it, so there some tensors must do.
TEST_P(TensorParallelTest, N4TheNumberOfSlicesShows) {
  TensorProblem problem = {.config = EveryLayerKind(), .storage = GetParam()};
  const TensorOutcome four = RunOn(problem, {});
  problem.slices = 1;
  const TensorOutcome one = RunOn(problem, {});
  problem.slices = 2;
  const TensorOutcome two = RunOn(problem, {2, true, false});
  const auto all = static_cast<int64_t>(four.gradients.size());
  const int64_t least = GetParam() == DType::kF32 ? all / 2 : 2;
  EXPECT_GE(Differing(one, four), least);
  EXPECT_GE(Differing(two, four), least);
  EXPECT_NE(one.losses, four.losses);
  ExpectSameOutcome(two, RunOn(problem, {}), "two slices on one rank");
}

// Equal bits would be no parallelism if every rank did all the work.
TEST(TensorParallelFlopsTest, ARanksShareIsAtMostOneTwentiethAboveTheFairOne) {
  TensorProblem problem = {.config = EveryLayerKind()};
  problem.config.vocab = 2000;
  for (const bool recompute : {false, true}) {
    const int64_t whole = RunOn(problem, {1, false, recompute}).flops[0];
    for (const int degree : {2, 4}) {
      for (const bool sequence_parallel : {false, true}) {
        const TensorOutcome out =
            RunOn(problem, {degree, sequence_parallel, recompute});
        ASSERT_EQ(out.flops.size(), static_cast<size_t>(degree));
        const int64_t most =
            *std::max_element(out.flops.begin(), out.flops.end());
        EXPECT_LE(static_cast<double>(most) * degree,
                  1.05 * static_cast<double>(whole))
            << "degree " << degree;
      }
    }
  }
}

// A rank that is gone: the micro-batch runs to its end without it, and then
// there is an error in place of a result.
TEST(TensorParallelFailureTest, ALostRankIsToldAfterTheMicroBatch) {
  const TensorProblem problem = {.config = EveryLayerKind()};
  const TensorBatch batch(problem);
  for (const bool sequence_parallel : {false, true}) {
    absl::Status told;
    const absl::Status status =
        RunThreadRanks(2, [&](Communicator& comm) -> absl::Status {
          LS_ASSIGN_OR_RETURN(
              const auto axis,
              TensorAxis::Make(comm, {.slices = problem.slices,
                                      .sequence_parallel = sequence_parallel,
                                      .copies = 1,
                                      .fast_sums = false}));
          TensorRank rank(problem, {2, sequence_parallel, false}, *axis);
          rank.LoadWeights();
          if (comm.rank() == 1) return absl::CancelledError("leaves");
          told = rank.Train(batch);
          return absl::OkStatus();
        });
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
    EXPECT_EQ(told.code(), absl::StatusCode::kUnavailable) << told;
  }
}

}  // namespace
}  // namespace lockstep
