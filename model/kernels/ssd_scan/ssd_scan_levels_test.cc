// N1 and the contract: every level, every count of threads, alone and in a
// batch, whatever the numbers are.

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/kernels/kernel_testing.h"
#include "model/kernels/regimes.h"
#include "model/kernels/ssd_scan/ssd_scan.h"
#include "model/kernels/ssd_scan/ssd_scan_reference.h"
#include "model/kernels/ssd_scan/ssd_scan_testing.h"

namespace lockstep {
namespace {

class SsdScanLevels : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Storage, SsdScanLevels,
                         testing::Values(DType::kF32, DType::kBF16,
                                         DType::kF16),
                         [](const auto& info) { return NameOf(info.param); });

// Odd lengths around a chunk, and extents that are no multiple of anything.
std::vector<SsdShape> OddShapes() {
  std::vector<SsdShape> shapes;
  for (const int64_t tokens : {1, 31, 33, 75}) {
    shapes.push_back({2, tokens, 4, 7, 2, 19, 32});
  }
  shapes.push_back({1, 65, 2, 32, 1, 32, 64});
  shapes.push_back({1, 50, 3, 40, 3, 33, 20});
  return shapes;
}

TEST_P(SsdScanLevels, N1EveryLevelGivesTheScalarBits) {
  if (BestIsa() == Isa::kScalar) {
    GTEST_SKIP() << "scalar is the only level here: no two to compare";
  }
  for (const SsdShape& shape : OddShapes()) {
    const SsdCase scan = SsdCase::Random(shape, GetParam(), 1);
    ExpectOnEveryDevice(scan, RunSsd(scan, Isa::kScalar), "levels");
  }
}

// The contract itself, element by element.
TEST_P(SsdScanLevels, N3N4N7N13EveryLevelMeetsTheContract) {
  std::vector<SsdShape> shapes = {{2, 75, 4, 3, 2, 5, 64},
                                  {1, 41, 2, 32, 1, 16, 20},
                                  {1, 50, 3, 5, 3, 35, 32}};
  for (const SsdShape& shape : shapes) {
    for (const bool reset : {false, true}) {
      SsdCase scan = SsdCase::Random(shape, GetParam(), 10);
      scan.samples_per_leaf = shape.batch;
      for (int64_t t = 0; reset && t < shape.batch * shape.tokens; ++t) {
        scan.segments.push_back(1 + (t > 20) + (t > 22) + (t > 63));
      }
      ExpectOnEveryDevice(scan, ReferenceSsd(scan), "contract");
    }
  }
}

TEST_P(SsdScanLevels, N1N2N13EveryRegimeMeetsTheContract) {
  for (const SsdShape& shape :
       {SsdShape{2, 33, 4, 5, 2, 17, 32}, SsdShape{1, 65, 2, 15, 1, 1, 20},
        SsdShape{3, 1, 2, 1, 2, 31, 32}}) {
    for (const Regime regime : kAllRegimes) {
      const SsdCase scan = SsdCase::Hostile(shape, GetParam(), regime, 20);
      ExpectOnEveryDevice(scan, ReferenceSsd(scan), NameOf(regime), {1, 3});
    }
  }
}

TEST_P(SsdScanLevels, N1ThreadsDoNotMatterAtAnyLevel) {
  const SsdCase scan =
      SsdCase::Random({3, 75, 4, 16, 2, 16, 32}, GetParam(), 2);
  ExpectOnEveryDevice(scan, RunSsd(scan, Isa::kScalar), "threads",
                      {1, 2, 3, 8});
}

TEST_P(SsdScanLevels, N1TheRestOfTheBatchDoesNotMatter) {
  const SsdShape shape{3, 43, 4, 16, 2, 16, 32};
  const SsdCase all = SsdCase::Random(shape, GetParam(), 3);
  const SsdResult together = RunSsd(all, BestIsa());
  SsdShape one = shape;
  one.batch = 1;
  for (int64_t sample = 0; sample < shape.batch; ++sample) {
    SsdCase alone(one, GetParam());
    const auto copy = [&](StorageBuffer& to, const StorageBuffer& from) {
      to.Fill(Slice(from.Values(), shape.batch, sample, 1));
    };
    copy(alone.x, all.x);
    copy(alone.b, all.b);
    copy(alone.c, all.c);
    copy(alone.dt_raw, all.dt_raw);
    copy(alone.dy, all.dy);
    alone.dt_bias = all.dt_bias;
    alone.a_log = all.a_log;
    alone.d = all.d;
    SsdResult part = together;
    for (auto& [name, values] : part.tensors) {
      values = Slice(values, shape.batch, sample, 1);
    }
    ExpectOnEveryDevice(alone, part, "alone");
  }
}

}  // namespace
}  // namespace lockstep
