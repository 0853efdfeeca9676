// N4: every level gives the bytes of the reference for slices and leaves.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_case.h"
#include "model/kernels/matmul/matmul_reference.h"

namespace lockstep {
namespace {

// Uneven, overlapping, backwards, empty in every place: nothing in the contract
// forbids them.
Slices OddSlices() {
  return {{{5, 5}, {0, 37}, {37, 37}, {60, 61}, {64, 64}},
          {},
          {{90, 122}, {33, 70}, {0, 1}},
          {{61, 61}}};
}

int64_t CompareOnce(const MatmulSpec& spec, uint32_t seed, Isa isa,
                    int threads) {
  MatmulCase product(spec, seed);
  const std::vector<std::byte> want = product.Run(MatmulReference);
  Device device(threads, isa);
  const auto got =
      product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
  std::string report;
  int64_t compared = 0;
  EXPECT_EQ(product.CountDifferences(want, got, &report, &compared), 0)
      << NameOf(isa) << ", " << threads << " threads, " << report;
  return compared;
}

TEST(MatmulSlicesTest, N4EveryTypeLayoutRegimeAndLevel) {
  const std::vector<int64_t> in_proj = {96, 96, 32, 32, 24};
  struct Shape {
    int64_t m, n, k;
    Slices slices;
  };
  const Shape shapes[] = {
      {19, 37, Sum(in_proj), FusedSlices(in_proj, 4)},
      {29, 16, Sum(in_proj), FusedSlices(in_proj, 2)},
      {6, 65, 256, FusedSlices({256}, 8)},
      {15, 33, 122, OddSlices()},
      {1, 1, 64, FusedSlices({64}, 1)},
  };
  int64_t compared = 0;
  uint32_t seed = 0;
  for (const Isa isa : PresentIsas()) {
    for (const Shape& shape : shapes) {
      for (const DType dtype : kMatmulOperands) {
        for (const MatmulOutput& output : kMatmulOutputs) {
          for (int repeat = 0; repeat < 2; ++repeat, ++seed) {
            const int turn = static_cast<int>(seed % (kLayouts * kLayouts));
            compared +=
                CompareOnce({.m = shape.m,
                             .n = shape.n,
                             .k = shape.k,
                             .dtype = dtype,
                             .c_dtype = output.dtype,
                             .accumulate = output.accumulate,
                             .a_layout = static_cast<Layout>(turn / kLayouts),
                             .b_layout = static_cast<Layout>(turn % kLayouts),
                             .regime = static_cast<Regime>(seed % kRegimes),
                             .batch = 1 + static_cast<int64_t>(seed % 3),
                             .slices = shape.slices},
                            seed, isa, 1 + static_cast<int>(seed % 3));
          }
        }
      }
    }
  }
  // At each level, whichever this machine has.
  EXPECT_GT(compared, 100000 * static_cast<int64_t>(PresentIsas().size()));
}

// Slices longer than what is packed at once, rows past what the scratch holds,
// and more segments than a run has room for.
TEST(MatmulSlicesTest, N4LargeShapes) {
  std::vector<int64_t> many_parts(40, 8);
  struct Shape {
    int64_t m, n, k;
    DType dtype;
    DType c_dtype;
    Slices slices;
  };
  const Shape shapes[] = {
      {17, 40, 4400, DType::kBF16, DType::kBF16, FusedSlices({4400}, 4)},
      {16, 33, 2100, DType::kF32, DType::kF32, FusedSlices({2100}, 4)},
      {350, 270, 64, DType::kBF16, DType::kF32, FusedSlices({64}, 4)},
      {33, 40, 320, DType::kBF16, DType::kBF16, FusedSlices(many_parts, 2)},
      {33, 40, 320, DType::kF16, DType::kF32, FusedSlices(many_parts, 1)},
      {33, 40, 320, DType::kF32, DType::kF32, FusedSlices(many_parts, 8)},
      {9, 550, 640, DType::kBF16, DType::kBF16, FusedSlices({640}, 32)},
      {2, 4100, 64, DType::kBF16, DType::kF32, FusedSlices({64}, 32)},
  };
  int64_t compared = 0;
  for (const Isa isa : PresentIsas()) {
    for (const Shape& shape : shapes) {
      compared += CompareOnce({.m = shape.m,
                               .n = shape.n,
                               .k = shape.k,
                               .dtype = shape.dtype,
                               .c_dtype = shape.c_dtype,
                               .b_layout = Layout::kColumns,
                               .regime = Regime::kCancelling,
                               .slices = shape.slices},
                              50, isa, 2);
    }
  }
  EXPECT_GT(compared, 200000);
}

TEST(MatmulSlicesTest, N1ThreadCounts) {
  int64_t compared = 0;
  for (const int threads : {1, 2, 3, 8}) {
    compared += CompareOnce({.m = 150,
                             .n = 131,
                             .k = 352,
                             .dtype = DType::kBF16,
                             .c_dtype = DType::kBF16,
                             .slices = FusedSlices({256, 96}, 4)},
                            60, BestIsa(), threads);
  }
  EXPECT_GT(compared, 70000);
}

// One slice of all positions is no slices at all.
TEST(MatmulSlicesTest, N4OneSliceIsThePlainProduct) {
  for (const DType dtype : kMatmulOperands) {
    MatmulSpec spec{.m = 40, .n = 50, .k = 300, .dtype = dtype};
    MatmulCase plain(spec, 70);
    spec.slices = {{{0, 300}}};
    MatmulCase sliced(spec, 70);
    Device device(1, BestIsa());
    const auto multiply = [&](const MatmulArgs& args) { Matmul(device, args); };
    EXPECT_EQ(plain.Run(multiply), sliced.Run(multiply)) << NameOf(dtype);
    EXPECT_EQ(device.flops(), 2 * 2 * 40 * 50 * 300);
  }
}

// N5: leaves added one after another, in one call and in several.
TEST(MatmulSlicesTest, N5LeavesAreAddedInOrder) {
  int64_t compared = 0;
  for (const Isa isa : PresentIsas()) {
    for (const int64_t tokens : {40, 300, 1100}) {
      MatmulSpec spec{.m = 21,
                      .n = 40,
                      .k = 3 * tokens,
                      .dtype = DType::kBF16,
                      .accumulate = true,
                      .a_layout = Layout::kColumns,
                      .slices = {{{0, tokens}},
                                 {{tokens, 2 * tokens}},
                                 {{2 * tokens, 3 * tokens}}},
                      .slice_use = SliceUse::kLeaves};
      compared += CompareOnce(spec, 100, isa, 2);
      MatmulCase product(spec, 100);
      Device device(2, isa);
      const auto at_once =
          product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
      const auto one_by_one = product.Run([&](MatmulArgs args) {
        args.slice_count = 1;
        for (int leaf = 0; leaf < 3; ++leaf, ++args.slices) {
          Matmul(device, args);
        }
      });
      EXPECT_EQ(at_once, one_by_one);
    }
  }
  EXPECT_GT(compared, 5000);
}

}  // namespace
}  // namespace lockstep
