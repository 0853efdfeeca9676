// dk and dv where slices cut the query heads of a key/value head (N4).

#include <cstdint>
#include <limits>
#include <vector>

#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/attention/attention.h"
#include "model/kernels/attention/attention_testing.h"
#include "model/kernels/kernel_testing.h"

namespace lockstep {
namespace {

constexpr AttentionShape kShape = {2, 75, 8, 2, 20, 32};

struct SlicedGradients {
  StorageBuffer dq, dk, dv;
};

SlicedGradients RunSliced(const AttentionCase& problem, int64_t slices,
                          Device& device) {
  const AttentionShape& s = problem.shape;
  const DType dtype = problem.q.dtype();
  const int64_t rows = s.batch * s.tokens;
  const AttentionInputs in{dtype,
                           problem.q.data(),
                           problem.q.row_stride(),
                           problem.k.data(),
                           problem.k.row_stride(),
                           problem.v.data(),
                           problem.v.row_stride(),
                           nullptr};
  std::vector<float> lse(rows * s.heads,
                         std::numeric_limits<float>::quiet_NaN());
  StorageBuffer o(dtype, rows, s.heads * s.head_dim, 4);
  const int64_t width = s.kv_heads * slices * s.head_dim;
  SlicedGradients got = {StorageBuffer(dtype, rows, s.heads * s.head_dim, 6),
                         StorageBuffer(DType::kF32, rows, width, 6),
                         StorageBuffer(DType::kF32, rows, width, 7)};
  AttentionForward(device, s, in, o.data(), o.row_stride(), lse.data());
  AttentionBackward(
      device, s, in, o.data(), o.row_stride(), lse.data(), problem.d_o.data(),
      problem.d_o.row_stride(),
      {got.dq.data(), got.dq.row_stride(), got.dk.data(), got.dk.row_stride(),
       got.dv.data(), got.dv.row_stride(), slices});
  EXPECT_TRUE(got.dk.GapsUntouched());
  EXPECT_TRUE(got.dv.GapsUntouched());
  return got;
}

// Each key/value head `copies` times: the query heads of a slice then have one
// of their own.
StorageBuffer Repeated(const StorageBuffer& heads, int64_t copies,
                       int64_t head_dim) {
  StorageBuffer out(heads.dtype(), heads.rows(), heads.columns() * copies);
  for (int64_t row = 0; row < out.rows(); ++row) {
    for (int64_t c = 0; c < out.columns(); ++c) {
      const int64_t head = c / head_dim / copies;
      out.Set(row, c, heads.Get(row, head * head_dim + c % head_dim));
    }
  }
  return out;
}

std::vector<float> Rounded(const StorageBuffer& wide, DType dtype) {
  StorageBuffer narrow(dtype, wide.rows(), wide.columns());
  narrow.Fill(wide.Values());
  return narrow.Values();
}

TEST(AttentionSlices, N4ASliceIsTheSumOfAKeyValueHeadOfItsOwn) {
  int64_t compared = 0;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const AttentionCase problem = AttentionCase::Random(kShape, dtype, 11);
    for (const int64_t slices : {1, 2, 4}) {
      AttentionCase apart = problem;
      apart.shape.kv_heads *= slices;
      apart.k = Repeated(problem.k, slices, kShape.head_dim);
      apart.v = Repeated(problem.v, slices, kShape.head_dim);
      const NamedTensors want = RunAttention(apart, Isa::kScalar);
      for (const Isa isa : PresentIsas()) {
        for (const int threads : {1, 3}) {
          Device device(threads, isa);
          const SlicedGradients got = RunSliced(problem, slices, device);
          EXPECT_TRUE(SameBits(got.dq.Values(), Find(want, "q")));
          EXPECT_TRUE(SameBits(Rounded(got.dk, dtype), Find(want, "k")));
          EXPECT_TRUE(SameBits(Rounded(got.dv, dtype), Find(want, "v")));
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 18 * static_cast<int64_t>(PresentIsas().size()));
}

// The canary: two slices added are not four heads in a row.
TEST(AttentionSlices, N4TheNumberOfSlicesShows) {
  const AttentionCase problem = AttentionCase::Random(kShape, DType::kF32, 12);
  Device device(2, BestIsa());
  const StorageBuffer whole = RunSliced(problem, 1, device).dk;
  const StorageBuffer halves = RunSliced(problem, 2, device).dk;
  int64_t differing = 0;
  for (int64_t row = 0; row < whole.rows(); ++row) {
    for (int64_t c = 0; c < whole.columns(); ++c) {
      const int64_t at =
          c / kShape.head_dim * 2 * kShape.head_dim + c % kShape.head_dim;
      const float sum =
          halves.Get(row, at) + halves.Get(row, at + kShape.head_dim);
      differing += BitsOf(sum) != BitsOf(whole.Get(row, c)) ? 1 : 0;
    }
  }
  EXPECT_GT(differing, whole.rows() * whole.columns() / 20);
}

}  // namespace
}  // namespace lockstep
