#include "tools/bisect/element_difference.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace lockstep {
namespace {

KeptTensor Kept(const std::vector<float>& values) {
  KeptTensor tensor = {.name = "y",
                       .dtype = DType::kF32,
                       .shape = {2, static_cast<int64_t>(values.size()) / 2},
                       .bytes = {}};
  tensor.bytes.resize(values.size() * 4);
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST(ElementDifferenceTest, CountsPlacesAndUlps) {
  const float one = 1.0f, next = std::nextafter(one, 2.0f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ElementDifference d =
      CompareElements(Kept({1, 2, 3, one, 0.0f, 5, one, -1e-45f}),
                      Kept({1, 2, 3, next, -0.0f, 5, nan, 1e-45f}));
  EXPECT_EQ(d.count, 8);
  EXPECT_EQ(d.differ, 4);
  EXPECT_EQ(d.first, (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(d.a, "3f800000");
  EXPECT_EQ(d.b, "3f800001");
  const std::map<int64_t, int64_t> ulps = {{-1, 1}, {0, 1}, {1, 1}, {2, 1}};
  EXPECT_EQ(d.ulps, ulps);
}

TEST(ElementDifferenceTest, EqualOnesHaveNone) {
  const ElementDifference d = CompareElements(Kept({1, 2}), Kept({1, 2}));
  EXPECT_EQ(d.differ, 0);
  EXPECT_TRUE(d.first.empty());
  EXPECT_TRUE(d.ulps.empty());
}

TEST(ElementDifferenceTest, AHighBitIsFar) {
  const float far =
      std::bit_cast<float>(std::bit_cast<uint32_t>(2.5f) ^ (1u << 30));
  const ElementDifference d = CompareElements(Kept({2.5f, 1}), Kept({far, 1}));
  ASSERT_EQ(d.ulps.size(), 1u);
  EXPECT_EQ(d.ulps.begin()->first, int64_t{1} << 30);
}

}  // namespace
}  // namespace lockstep
