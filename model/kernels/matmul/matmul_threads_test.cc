// N1: the number of threads cannot show in the bits.

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

class MatmulThreadsTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!IsaPresent(GetParam())) {
      GTEST_SKIP() << NameOf(GetParam()) << " is not on this machine";
    }
  }
};

TEST_P(MatmulThreadsTest, N1ThreadCounts) {
  const MatmulSpec specs[] = {
      {.m = 150, .n = 131, .k = 257, .regime = Regime::kCancelling},
      {.m = 100,
       .n = 301,
       .k = 65,
       .dtype = DType::kBF16,
       .c_dtype = DType::kBF16,
       .a_layout = Layout::kColumns,
       .regime = Regime::kSpecial},
      {.m = 65,
       .n = 64,
       .k = 96,
       .dtype = DType::kF16,
       .b_layout = Layout::kColumns,
       .regime = Regime::kZeros,
       .batch = 7},
      {.m = 211, .n = 96, .k = 130, .dtype = DType::kBF16, .accumulate = true}};
  int64_t compared = 0;
  for (const MatmulSpec& spec : specs) {
    MatmulCase product(spec, 1);
    const std::vector<std::byte> want = product.Run(MatmulReference);
    for (int threads : {1, 2, 3, 8}) {
      Device device(threads, GetParam());
      const std::vector<std::byte> got =
          product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
      std::string report;
      EXPECT_EQ(product.CountDifferences(want, got, &report, &compared), 0)
          << threads << " threads, " << report;
    }
  }
  EXPECT_GT(compared, 400000);
}

INSTANTIATE_TEST_SUITE_P(Levels, MatmulThreadsTest,
                         testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512,
                                         Isa::kAmx),
                         [](const auto& info) {
                           return std::string(NameOf(info.param));
                         });

}  // namespace
}  // namespace lockstep
