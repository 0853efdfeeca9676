// What the tests of the two norms share: the orders in which a norm could add,
// shapes, and a canary that needs another order to show.
//
// What it is not: a norm: each folder writes its own formulas out, one number
// at a time, so that its reference is a second implementation.

#ifndef MODEL_KERNELS_NORM_TESTING_H_
#define MODEL_KERNELS_NORM_TESTING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "determinism/ordered_sum.h"
#include "gtest/gtest.h"
#include "model/kernels/testing.h"

namespace lockstep {

// Orders in which a norm could add, besides the written one.
enum class NormOrder { kWritten, kChains };

// Along a row.
inline float NormRowSum(NormOrder order, const std::vector<float>& terms) {
  if (order == NormOrder::kWritten) {
    return OrderedSum(terms.data(), static_cast<int64_t>(terms.size()));
  }
  float chain = 0;
  for (const float term : terms) chain += term;
  return chain;
}

// Down a leaf of `rows`: term(r) of each, in blocks of 32.
template <class Term>
float NormLeafSum(NormOrder order, int64_t rows, const Term& term) {
  float total = 0;
  float chain = 0;
  for (int64_t r = 0; r < rows; ++r) {
    if (order == NormOrder::kWritten && r % 32 == 0) {
      total += chain;
      chain = 0;
    }
    chain += term(r);
  }
  return total + chain;
}

struct NormShape {
  int64_t rows, width, groups, rows_per_leaf;
};
inline constexpr NormShape kNormShapes[] = {
    {1, 1, 1, 1},    {15, 17, 1, 5},  {33, 31, 1, 33},  {34, 65, 1, 17},
    {63, 33, 3, 21}, {65, 63, 7, 65}, {17, 195, 3, 17}, {2, 130, 1, 1}};

// More than a twentieth of every output differs.
inline void ExpectOrderShows(const std::vector<TestMatrix>& want,
                             const std::vector<TestMatrix>& other,
                             std::span<const char* const> names) {
  ASSERT_EQ(want.size(), names.size());
  ASSERT_EQ(other.size(), names.size());
  for (size_t output = 0; output < names.size(); ++output) {
    const TestMatrix& a = want[output];
    const TestMatrix& b = other[output];
    int64_t differing = 0;
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = 0; j < a.columns(); ++j) {
        differing += a.At(i, j) != b.At(i, j) ? 1 : 0;
      }
    }
    EXPECT_GT(differing, a.rows() * a.columns() / 20) << names[output];
  }
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_NORM_TESTING_H_
