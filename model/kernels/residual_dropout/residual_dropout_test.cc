#include "model/kernels/residual_dropout/residual_dropout.h"

#include <cmath>
#include <vector>

#include "determinism/philox.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kTokens = 33;
constexpr int64_t kSamples = 7;
constexpr int64_t kRows = kTokens * kSamples;
constexpr int64_t kWidth = 517;  // no multiple of the four lanes of a counter
constexpr uint64_t kFirstSample = uint64_t{1} << 40;
// With gaps, as in a run that passes over samples.
constexpr uint64_t kSampleIds[kSamples] = {
    kFirstSample,     kFirstSample + 1,   kFirstSample + 5,  kFirstSample + 6,
    kFirstSample + 7, kFirstSample + 100, kFirstSample + 101};

DropoutPosition Position(double p) {
  return {p, 0x123456789abcdefull, 3, kSampleIds, kTokens, 0};
}

void RunOn(Device& device, const TestMatrix& x, const TestMatrix& y,
           const DropoutPosition& at, std::vector<TestMatrix>& out) {
  ResidualDropoutForward(device, {x.rows(), x.columns(), x.dtype(), x.data(),
                                  x.row_stride(), y.data(), y.row_stride(),
                                  out[0].data(), out[0].row_stride(), at});
  ResidualDropoutBackward(
      device, {x.rows(), x.columns(), x.dtype(), y.data(), y.row_stride(),
               out[1].data(), out[1].row_stride(), at});
}

// out, and dy where dres = y.
std::vector<TestMatrix> RunEverywhere(const TestMatrix& x, const TestMatrix& y,
                                      const DropoutPosition& at) {
  const TestMatrix like(x.dtype(), x.rows(), x.columns());
  return ExpectSameOnEveryDevice(
      {like, like}, [&](Device& device, std::vector<TestMatrix>& outputs) {
        RunOn(device, x, y, at, outputs);
      });
}

TEST(ResidualDropoutTest, WithoutDropoutItIsAnAdd) {
  for (const DType dtype : kStorageTypes) {
    const TestMatrix x = RandomMatrix(dtype, kRows, kWidth, 1);
    const TestMatrix y = RandomMatrix(dtype, kRows, kWidth, 2);
    const auto out = RunEverywhere(x, y, Position(0));
    TestMatrix want = x;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kWidth; ++j) {
        want.Set(
            i, j,
            static_cast<float>(x.At(i, j)) + static_cast<float>(y.At(i, j)));
      }
    }
    ExpectSameMatrix(want, out[0], "out");
    ExpectSameMatrix(y, out[1], "dy");
  }
}

TEST(ResidualDropoutTest, N9TheMaskIsDrawnAtLogicalPositions) {
  const double p = 0.3;
  const float scale = static_cast<float>(1 / (1 - p));
  for (const DType dtype : kStorageTypes) {
    const TestMatrix x = RandomMatrix(dtype, kRows, kWidth, 1);
    const TestMatrix y = RandomMatrix(dtype, kRows, kWidth, 2);
    const auto out = RunEverywhere(x, y, Position(p));
    std::vector<TestMatrix> want = {x, y};
    int64_t kept = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kWidth; ++j) {
        const RandomPosition at{
            Stream::kHiddenDropout, 3, kSampleIds[i / kTokens],
            static_cast<uint64_t>(i % kTokens * kWidth + j)};
        const bool keep = RandomU32(Position(p).seed, at) >=
                          static_cast<uint32_t>(std::floor(p * 0x1p32));
        kept += keep;
        const float y_ij = keep ? static_cast<float>(y.At(i, j)) * scale : 0.0f;
        want[0].Set(i, j, static_cast<float>(x.At(i, j)) + y_ij);
        want[1].Set(i, j, y_ij);
      }
    }
    ExpectSameMatrix(want[0], out[0], "out");
    ExpectSameMatrix(want[1], out[1], "dy");
    // Six standard deviations of a fair draw.
    const double n = kRows * kWidth;
    EXPECT_LE(std::abs(kept - (1 - p) * n), 6 * std::sqrt(n * p * (1 - p)));
  }
}

TEST(ResidualDropoutTest, N1N9ASampleAloneDrawsTheSame) {
  const TestMatrix x = RandomMatrix(DType::kBF16, kRows, kWidth, 1);
  const TestMatrix y = RandomMatrix(DType::kBF16, kRows, kWidth, 2);
  const auto all = RunEverywhere(x, y, Position(0.1));
  DropoutPosition at = Position(0.1);
  at.sample_ids = at.sample_ids.subspan(4, 1);
  std::vector<TestMatrix> out(2, TestMatrix(DType::kBF16, kTokens, kWidth));
  Device device(1, BestIsa());
  const int64_t row = 4 * kTokens;
  ResidualDropoutForward(device, {kTokens, kWidth, DType::kBF16, x.row(row),
                                  x.row_stride(), y.row(row), y.row_stride(),
                                  out[0].data(), out[0].row_stride(), at});
  ResidualDropoutBackward(
      device, {kTokens, kWidth, DType::kBF16, y.row(row), y.row_stride(),
               out[1].data(), out[1].row_stride(), at});
  ExpectSameRows(all[0], row, out[0], 0, kTokens, "out");
  ExpectSameRows(all[1], row, out[1], 0, kTokens, "dy");
}

// What a rank of sequence parallelism has: tokens 11 to 21 of every sample.
TEST(ResidualDropoutTest, N9ATokenSliceDrawsTheSame) {
  constexpr int64_t kSlice = kTokens / 3;
  const TestMatrix x = RandomMatrix(DType::kBF16, kRows, kWidth, 1);
  const TestMatrix y = RandomMatrix(DType::kBF16, kRows, kWidth, 2);
  const auto all = RunEverywhere(x, y, Position(0.1));
  TestMatrix x_slice(DType::kBF16, kSamples * kSlice, kWidth);
  TestMatrix y_slice = x_slice;
  const auto row_of = [](int64_t i) {
    return i / kSlice * kTokens + kSlice + i % kSlice;
  };
  for (int64_t i = 0; i < x_slice.rows() * kWidth; ++i) {
    const int64_t row = i / kWidth, column = i % kWidth;
    x_slice.Set(row, column, static_cast<float>(x.At(row_of(row), column)));
    y_slice.Set(row, column, static_cast<float>(y.At(row_of(row), column)));
  }
  DropoutPosition at = Position(0.1);
  at.tokens = kSlice;
  at.first_token = kSlice;
  const auto slice = RunEverywhere(x_slice, y_slice, at);
  at.first_token = 0;
  const auto elsewhere = RunEverywhere(x_slice, y_slice, at);
  int64_t moved = 0;  // the canary: without its place a slice draws others
  for (int64_t i = 0; i < x_slice.rows(); ++i) {
    ExpectSameRows(all[0], row_of(i), slice[0], i, 1, "out");
    ExpectSameRows(all[1], row_of(i), slice[1], i, 1, "dy");
    for (int64_t j = 0; j < kWidth; ++j) {
      moved += elsewhere[1].At(i, j) != slice[1].At(i, j) ? 1 : 0;
    }
  }
  EXPECT_GT(moved, x_slice.rows() * kWidth / 10);
}

TEST(ResidualDropoutTest, InPlaceGivesTheSame) {
  const TestMatrix x = RandomMatrix(DType::kBF16, kRows, kWidth, 1);
  const TestMatrix y = RandomMatrix(DType::kBF16, kRows, kWidth, 2);
  Device device(2, BestIsa());
  for (const double p : {0.0, 0.2}) {
    const auto want = RunEverywhere(x, y, Position(p));
    TestMatrix out = x;
    TestMatrix dy = y;
    ResidualDropoutForward(device, {kRows, kWidth, DType::kBF16, out.data(),
                                    out.row_stride(), y.data(), y.row_stride(),
                                    out.data(), out.row_stride(), Position(p)});
    ResidualDropoutBackward(
        device, {kRows, kWidth, DType::kBF16, dy.data(), dy.row_stride(),
                 dy.data(), dy.row_stride(), Position(p)});
    ExpectSameMatrix(want[0], out, "out over x");
    ExpectSameMatrix(want[1], dy, "dy over dres");
  }
}

}  // namespace
}  // namespace lockstep
