#include "tools/bisect/element_difference.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tools/bisect/difference_map.h"

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

// [5, 2000]: cells of ten columns or so; one element of one ulp, a whole row of
// more, and what is no number.
TEST(DifferenceMapTest, ACellHasTheWorstOfItsElements) {
  std::vector<float> values(10000, 1.0f);
  KeptTensor a = Kept(values);
  a.shape = {5, 2000};
  values[7] = std::nextafter(1.0f, 2.0f);
  for (size_t i = 0; i < 2000; ++i) values[4000 + i] = 1.5f;
  values[9999] = std::numeric_limits<float>::quiet_NaN();
  KeptTensor b = Kept(values);
  b.shape = a.shape;
  const DifferenceMap map = MapDifference(a, b);
  EXPECT_EQ(map.rows, 5);
  EXPECT_EQ(map.columns, 2000);
  ASSERT_EQ(map.cell_rows, 5);
  ASSERT_EQ(map.cell_columns, DifferenceMap::kMost);
  const auto cell = [&](int64_t row, int64_t column) {
    return map.cells[static_cast<size_t>(row * map.cell_columns + column)];
  };
  EXPECT_EQ(cell(0, 0), 0);
  EXPECT_EQ(cell(0, 1), -1);
  EXPECT_EQ(cell(1, 0), -1);
  EXPECT_EQ(cell(2, 100), 22);
  EXPECT_EQ(cell(4, DifferenceMap::kMost - 1), 64);
  EXPECT_EQ(map.rows_differ, 3);
  EXPECT_EQ(map.columns_differ, 2000);
  EXPECT_EQ(map.first_row, 0);
  EXPECT_EQ(map.first_column, 7);
}

}  // namespace
}  // namespace lockstep
