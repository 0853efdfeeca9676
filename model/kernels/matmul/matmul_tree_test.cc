// N4: what the order of slices is, by hand and by a canary, and that every
// degree of tensor parallelism gives it.

#include <bit>
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
#include "model/kernels/slice_tree/slice_tree.h"

namespace lockstep {
namespace {

// The canary: slices are seen in the bits, and so is the tree.
TEST(MatmulTreeTest, N4OrdersDiffer) {
  for (const DType dtype : kMatmulOperands) {
    MatmulSpec spec{.m = 32, .n = 32, .k = 512, .dtype = dtype};
    std::vector<std::vector<std::byte>> results;
    for (const int64_t count : {0, 2, 4, 8}) {
      if (count != 0) spec.slices = FusedSlices({512}, count);
      MatmulCase product(spec, 80);
      results.push_back(product.Run(MatmulReference));
      for (size_t i = 0; i + 1 < results.size(); ++i) {
        std::string report;
        int64_t compared = 0;
        EXPECT_GT(product.CountDifferences(results[i], results.back(), &report,
                                           &compared),
                  compared / 8)
            << NameOf(dtype) << ", " << count << " slices";
      }
    }
  }
}

float Product1x1(Device& device, const std::vector<float>& a,
                 const std::vector<float>& b, DType dtype,
                 const std::vector<KSegment>& segments) {
  std::vector<BF16> a16, b16;
  for (const float x : a) a16.push_back(ToBF16(x));
  for (const float x : b) b16.push_back(ToBF16(x));
  const bool wide = dtype == DType::kF32;
  const auto k = static_cast<int64_t>(a.size());
  float c = 1;
  const KSlice slice{segments.data(), static_cast<int64_t>(segments.size())};
  Matmul(device, {.m = 1,
                  .n = 1,
                  .k = k,
                  .a = {wide ? static_cast<const void*>(a.data()) : a16.data(),
                        dtype, k, 1},
                  .b = {wide ? static_cast<const void*>(b.data()) : b16.data(),
                        dtype, 1, k},
                  .c = &c,
                  .c_row_stride = 1,
                  .slices = &slice,
                  .slice_count = 1});
  return c;
}

// Whether padding shows: the chain 2^-126 - 1.5 * 2^-126 underflows and is
// flushed to -0, and a padded position turns that into +0. So amx32 must pad,
// and the F32 chain must not.
TEST(MatmulTreeTest, N4PaddingShows) {
  for (const Isa isa : PresentIsas()) {
    Device device(1, isa);
    // Two positions of one block, both on its even chain.
    const std::vector<float> a = {0x1p-63f, 0.0f, -0x1.8p-63f};
    const std::vector<float> b = {0x1p-63f, 0.0f, 0x1p-63f};
    const auto bits = [&](DType dtype, const std::vector<KSegment>& segments) {
      return std::bit_cast<uint32_t>(Product1x1(device, a, b, dtype, segments));
    };
    EXPECT_EQ(bits(DType::kF32, {{0, 3}}), 0x80000000u) << NameOf(isa);
    EXPECT_EQ(bits(DType::kF32, {{0, 1}, {2, 3}}), 0x80000000u) << NameOf(isa);
    EXPECT_EQ(bits(DType::kBF16, {{0, 3}}), 0u) << NameOf(isa);
    // Each segment is a block: 2^-126, then the sum that is flushed; a third
    // segment of nothing does not pad, one of a zero does.
    EXPECT_EQ(bits(DType::kBF16, {{0, 1}, {2, 3}}), 0x80000000u) << NameOf(isa);
    EXPECT_EQ(bits(DType::kBF16, {{0, 1}, {2, 3}, {3, 3}}), 0x80000000u)
        << NameOf(isa);
    EXPECT_EQ(bits(DType::kBF16, {{0, 1}, {2, 3}, {1, 2}}), 0u) << NameOf(isa);
  }
}

// N4: ranks with 4, 2 + 2 or 1 + 1 + 1 + 1 slices end with the same bits.
TEST(MatmulTreeTest, N4EveryDegreeGivesTheSameBits) {
  const std::vector<int64_t> parts = {128, 128, 32, 32, 24};
  const Slices slices = FusedSlices(parts, 4);
  Device device(2, BestIsa());
  int64_t compared = 0;
  for (const DType dtype : kMatmulOperands) {
    MatmulSpec spec{.m = 50,
                    .n = 70,
                    .k = Sum(parts),
                    .dtype = dtype,
                    .c_dtype = DType::kBF16,
                    .regime = Regime::kCancelling,
                    .slices = slices};
    MatmulCase whole(spec, 90);
    const auto want =
        whole.Run([&](const MatmulArgs& args) { Matmul(device, args); });
    for (const int64_t held : {1, 2, 4}) {
      const auto got = whole.Run([&](const MatmulArgs& args) {
        const int64_t size = args.m * args.n;
        std::vector<float> partials(4 / held * size, -1.0f);
        for (int64_t rank = 0; rank < 4 / held; ++rank) {
          MatmulArgs part = args;
          part.c = partials.data() + rank * size;
          part.c_dtype = DType::kF32;
          part.c_row_stride = args.n;
          part.slices = args.slices + rank * held;
          part.slice_count = held;
          Matmul(device, part);
        }
        CombineSliceTree(device, {.rows = args.m,
                                  .columns = args.n,
                                  .count = 4 / held,
                                  .partials = partials.data(),
                                  .partial_stride = size,
                                  .partial_row_stride = args.n,
                                  .out = args.c,
                                  .out_dtype = args.c_dtype,
                                  .out_row_stride = args.c_row_stride});
      });
      std::string report;
      EXPECT_EQ(whole.CountDifferences(want, got, &report, &compared), 0)
          << held << " slices a rank, " << report;
    }
  }
  EXPECT_GT(compared, 30000);
}

}  // namespace
}  // namespace lockstep
