// N1 and the contract: every level, every count of threads, alone and in a
// batch, whatever the numbers are.

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/kernels/attention/attention.h"
#include "model/kernels/attention/attention_reference.h"
#include "model/kernels/attention/attention_testing.h"
#include "model/kernels/kernel_testing.h"
#include "model/kernels/regimes.h"

namespace lockstep {
namespace {

class AttentionLevels : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Storage, AttentionLevels,
                         testing::Values(DType::kF32, DType::kBF16,
                                         DType::kF16),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(AttentionLevels, N1EveryLevelGivesTheScalarBits) {
  if (BestIsa() == Isa::kScalar) {
    GTEST_SKIP() << "scalar is the only level here: no two to compare";
  }
  std::vector<AttentionShape> shapes;
  for (const int64_t tokens : {1, 31, 32, 33, 75, 130}) {
    shapes.push_back({2, tokens, 4, 2, 16, 64});
  }
  shapes.push_back({1, 100, 3, 1, 33, 32});
  shapes.push_back({1, 65, 2, 2, 7, 128});
  for (const AttentionShape& shape : shapes) {
    const AttentionCase problem = AttentionCase::Random(shape, GetParam(), 1);
    ExpectOnEveryDevice(problem, RunAttention(problem, Isa::kScalar), "levels");
  }
}

// The contract itself, element by element.
TEST_P(AttentionLevels, N3N4N7N13EveryLevelMeetsTheContract) {
  for (const AttentionShape& shape : {AttentionShape{1, 140, 2, 1, 5, 64},
                                      AttentionShape{2, 75, 3, 3, 35, 32},
                                      AttentionShape{1, 33, 4, 1, 16, 64}}) {
    for (const bool reset : {false, true}) {
      AttentionCase problem = AttentionCase::Random(shape, GetParam(), 8);
      for (int64_t t = 0; reset && t < shape.batch * shape.tokens; ++t) {
        const int64_t token = t % shape.tokens;
        problem.segments.push_back(1 + (token > 20) + (token > 22) +
                                   (token > 66));
      }
      ExpectOnEveryDevice(problem, ReferenceAttention(problem), "contract");
    }
  }
}

TEST_P(AttentionLevels, N1N2N13EveryRegimeMeetsTheContract) {
  for (const AttentionShape& shape :
       {AttentionShape{2, 33, 4, 2, 17, 32}, AttentionShape{1, 65, 3, 1, 1, 64},
        AttentionShape{3, 1, 2, 2, 31, 32}}) {
    for (const Regime regime : kAllRegimes) {
      const AttentionCase problem =
          AttentionCase::Hostile(shape, GetParam(), regime, 20);
      ExpectOnEveryDevice(problem, ReferenceAttention(problem), NameOf(regime),
                          {1, 3});
    }
  }
}

TEST_P(AttentionLevels, N1ThreadsDoNotMatterAtAnyLevel) {
  const AttentionCase problem =
      AttentionCase::Random({3, 75, 4, 2, 16, 32}, GetParam(), 2);
  ExpectOnEveryDevice(problem, RunAttention(problem, Isa::kScalar), "threads",
                      {1, 2, 3, 8});
}

TEST_P(AttentionLevels, N1TheRestOfTheBatchDoesNotMatter) {
  const AttentionShape shape{3, 43, 4, 2, 16, 32};
  const AttentionCase all = AttentionCase::Random(shape, GetParam(), 3);
  const NamedTensors together = RunAttention(all, BestIsa());
  AttentionShape one = shape;
  one.batch = 1;
  for (int64_t sample = 0; sample < shape.batch; ++sample) {
    AttentionCase alone(one, GetParam());
    const auto copy = [&](StorageBuffer& to, const StorageBuffer& from) {
      to.Fill(Slice(from.Values(), shape.batch, sample, 1));
    };
    copy(alone.q, all.q);
    copy(alone.k, all.k);
    copy(alone.v, all.v);
    copy(alone.d_o, all.d_o);
    NamedTensors part = together;
    for (auto& [name, values] : part) {
      values = Slice(values, shape.batch, sample, 1);
    }
    ExpectOnEveryDevice(alone, part, "alone");
  }
}

}  // namespace
}  // namespace lockstep
