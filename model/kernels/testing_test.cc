// The sweep of testing.h is a detector: here it must fire.

#include "model/kernels/testing.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/kernel_testing.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kColumns = 17;

using Outputs = std::vector<TestMatrix>;

// What the sweep says of a kernel, which need not be a sound one: the text of
// its failures.
std::string FailuresOf(const Outputs& outputs, const TestRun& run) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::
            INTERCEPT_ONLY_CURRENT_THREAD,
        &results);
    ExpectSameOnEveryDevice(outputs, run);
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) {
    text += results.GetTestPartResult(i).message();
  }
  return text;
}

void Fill(TestMatrix& matrix) {
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      matrix.Set(i, j, static_cast<float>(i - j));
    }
  }
}

TEST(SweepTest, ASoundKernelPasses) {
  for (const DType dtype : kStorageTypes) {
    EXPECT_EQ(FailuresOf({TestMatrix(dtype, kRows, kColumns)},
                         [](Device&, Outputs& out) { Fill(out[0]); }),
              "");
  }
}

TEST(SweepTest, NothingToCompareFails) {
  EXPECT_NE(FailuresOf({}, [](Device&, Outputs&) {}).find("nothing was compar"),
            std::string::npos);
  EXPECT_NE(FailuresOf({TestMatrix(DType::kF32, 0, kColumns)},
                       [](Device&, Outputs&) {})
                .find("nothing to compare"),
            std::string::npos);
}

TEST(SweepTest, AnElementThatNobodyWritesIsFound) {
  for (const DType dtype : kStorageTypes) {
    const std::string text = FailuresOf(
        {TestMatrix(dtype, kRows, kColumns)}, [](Device&, Outputs& out) {
          const TestMatrix before = out[0];
          Fill(out[0]);
          out[0].Set(3, 16, static_cast<float>(before.At(3, 16)));
        });
    EXPECT_NE(text.find("1 of 85 differ, first at (3, 16)"), std::string::npos)
        << text;
  }
}

TEST(SweepTest, AWriteBetweenRowsOrBeforeTheFirstIsFound) {
  for (const int64_t at : {-1, 17, 19, 99}) {  // elements from the first
    EXPECT_NE(FailuresOf({TestMatrix(DType::kBF16, kRows, kColumns)},
                         [=](Device&, Outputs& out) {
                           Fill(out[0]);
                           out[0].as<uint16_t>()[at] = 1;
                         }),
              "")
        << at;
  }
}

TEST(TestMatrixTest, DataIsOffAlignment) {
  for (const DType dtype : kStorageTypes) {
    TestMatrix matrix(dtype, kRows, kColumns);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(matrix.data()) % 16, SizeOf(dtype));
    EXPECT_EQ(matrix.data(), matrix.row(0));
  }
}

// The sign of a zero and the lowest bit are differences; NaNs are one class.
TEST(SweepTest, ALevelOrACountOfThreadsThatShowsIsFound) {
  const Outputs one = {TestMatrix(DType::kF32, kRows, kColumns)};
  EXPECT_NE(FailuresOf(one,
                       [](Device& device, Outputs& out) {
                         Fill(out[0]);
                         if (device.threads().threads() == 3) {
                           out[0].Set(1, 1, -0.0f);
                         }
                       }),
            "");
  const std::string by_level =
      FailuresOf(one, [](Device& device, Outputs& out) {
        Fill(out[0]);
        if (device.isa() == BestIsa()) out[0].Set(0, 1, -0x1.000002p0f);
      });
  if (BestIsa() == Isa::kScalar) {
    GTEST_SKIP() << "scalar is the only level here: no two to compare";
  }
  EXPECT_NE(by_level.find(NameOf(BestIsa())), std::string::npos) << by_level;
}

// Why outputs are compared over two poisons: over one that is NaN, an element
// that nobody writes is the same as one that is rightly NaN.
TEST(StorageBufferTest, TwoPoisonsFindAnElementThatNobodyWrites) {
  for (const DType dtype : kStorageTypes) {
    const auto run = [=](uint8_t poison) {
      StorageBuffer out(dtype, kRows, kColumns, 3, poison);
      for (int64_t i = 0; i < kRows * kColumns - 1; ++i) {
        out.Set(i / kColumns, i % kColumns, 1.0f);
      }
      EXPECT_TRUE(out.GapsUntouched());
      return out.Values();
    };
    EXPECT_TRUE(SameBits(run(kNanPoison), run(kNanPoison)));
    EXPECT_FALSE(SameBits(run(kNanPoison), run(kFinitePoison)));
  }
  EXPECT_TRUE(std::isnan(PoisonedFloats(1, kNanPoison)[0]));
  EXPECT_TRUE(std::isfinite(PoisonedFloats(1, kFinitePoison)[0]));
}

TEST(StorageBufferTest, AWriteBetweenRowsOrBeforeTheFirstIsFound) {
  for (const int64_t at : {-1, 17, 19, 99}) {  // elements from the first
    StorageBuffer out(DType::kBF16, kRows, kColumns);
    static_cast<uint16_t*>(out.data())[at] = 1;
    EXPECT_FALSE(out.GapsUntouched()) << at;
  }
}

TEST(RegimesTest, EachHasWhatItsNameSays) {
  const auto count = [](Regime regime, auto&& is) {
    int64_t found = 0;
    for (const float value : RegimeFloats(4000, regime, 1)) found += is(value);
    return found;
  };
  const auto special = [](float x) { return std::isnan(x) || std::isinf(x); };
  const auto zero = [](float x) { return x == 0 && std::signbit(x); };
  const auto tiny = [](float x) { return x != 0 && std::abs(x) < 0x1p-126f; };
  const auto huge = [](float x) { return std::abs(x) > 0x1p60f; };
  EXPECT_GT(count(Regime::kSpecial, special), 40);
  EXPECT_GT(count(Regime::kZeros, zero), 1000);
  EXPECT_GT(count(Regime::kSubnormal, tiny), 500);
  EXPECT_EQ(count(Regime::kHuge, huge), 4000);
  EXPECT_EQ(count(Regime::kUniform, special), 0);
  EXPECT_EQ(RegimeFloats(99, Regime::kHuge, 3),
            RegimeFloats(99, Regime::kHuge, 3));
}

}  // namespace
}  // namespace lockstep
