// N3: the order itself, by hand and by a canary.

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

// The canary: the comparison of matmul_test.cc can tell two orders apart.
TEST(MatmulOrderTest, N3OrdersDiffer) {
  MatmulCase product({.m = 32, .n = 32, .k = 256, .dtype = DType::kBF16}, 5000);
  const std::vector<std::byte> amx32 = product.Run(MatmulReference);
  const std::vector<std::byte> plain = product.Run(MatmulPlainChain);
  std::string report;
  int64_t compared = 0;
  const int64_t differences =
      product.CountDifferences(amx32, plain, &report, &compared);
  EXPECT_GT(differences, compared / 4);
}

// By hand: 2^24 + 1 is not a binary32 and rounds to 2^24, so it matters whether
// the two ones meet each other before they meet 2^24.
TEST(MatmulOrderTest, N3ByHand) {
  std::vector<float> a(64, 0.0f), ones(64, 1.0f);
  a[1] = 1.0f;
  a[2] = 1.0f;
  a[3] = 0x1p24f;
  a[33] = 2.0f;
  std::vector<BF16> a16, ones16;
  for (float x : a) a16.push_back(ToBF16(x));
  for (float x : ones) ones16.push_back(ToBF16(x));
  float c = -1;
  MatmulArgs args{.m = 1, .n = 1, .k = 64};
  args.c = &c;
  args.c_dtype = DType::kF32;
  args.c_row_stride = 1;
  Device device(1, BestIsa());

  args.a = {a.data(), DType::kF32, 64, 1};
  args.b = {ones.data(), DType::kF32, 1, 1};
  Matmul(device, args);
  EXPECT_EQ(c, 0x1p24f + 4.0f);  // ((1 + 1) + 2^24) + 2

  args.a = {a16.data(), DType::kBF16, 64, 1};
  args.b = {ones16.data(), DType::kBF16, 1, 1};
  Matmul(device, args);
  EXPECT_EQ(c, 0x1p24f + 2.0f);  // (1 + (1 + 2^24)) + 2
}

}  // namespace
}  // namespace lockstep
