// Every pair of (kind of run, place of each stop, settings of each launch).
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <vector>

#include "tests/cases/pairs.h"
#include "tests/cases/stop_matrix.h"

namespace lockstep {
namespace {

constexpr int64_t kMicros[] = {1, 2, 4};
constexpr int64_t kThreads[] = {1, 2, 3};
constexpr int64_t kSaves[] = {1, 2, 3};

// The kind, then place, micro-batch, threads and interval of each generation.
std::vector<int64_t> Levels() {
  std::vector<int64_t> levels = {static_cast<int64_t>(MatrixKinds().size())};
  for (int64_t g = 0; g < kGenerations; ++g) {
    levels.insert(levels.end(), {kStopPlaces, 3, 3, 3});
  }
  return levels;
}

Combination CombinationOf(const std::vector<int64_t>& row) {
  Combination combination = {MatrixKinds()[static_cast<size_t>(row[0])], {}};
  for (size_t g = 0; g < kGenerations; ++g) {
    const int64_t* const at = row.data() + 1 + 4 * g;
    combination.launches[g] = {static_cast<StopPlace>(at[0]), kMicros[at[1]],
                               kThreads[at[2]], kSaves[at[3]]};
  }
  return combination;
}

TEST(StopPairsTest, TheRowsCoverEveryPair) {
  std::set<LevelPair> open = AllPairs(Levels());
  const size_t pairs = open.size();
  const auto rows = CoveringRows(Levels());
  for (const auto& row : rows) {
    for (size_t a = 0; a < row.size(); ++a) {
      for (size_t b = a + 1; b < row.size(); ++b) {
        open.erase({{a, row[a]}, {b, row[b]}});
      }
    }
  }
  EXPECT_TRUE(open.empty()) << open.size() << " of " << pairs;
  EXPECT_LE(rows.size(), 110u);
  printf("%zu rows cover %zu pairs\n", rows.size(), pairs);
}

class StopPairsTest : public testing::TestWithParam<size_t> {};

TEST_P(StopPairsTest, EveryCombinationIsTheUnbrokenRun) {
  const UnbrokenRun unbroken(MatrixKinds()[GetParam()]);
  int64_t combinations = 0, lines = 0;
  for (const auto& row : CoveringRows(Levels())) {
    if (row[0] != static_cast<int64_t>(GetParam())) continue;
    lines += unbroken.Compare(CombinationOf(row));
    ++combinations;
  }
  EXPECT_GE(combinations, kStopPlaces);
  EXPECT_EQ(lines, combinations * kMatrixSteps);
  printf("%s: %lld combinations\n", MatrixKinds()[GetParam()].c_str(),
         static_cast<long long>(combinations));
}

INSTANTIATE_TEST_SUITE_P(Kinds, StopPairsTest,
                         testing::Range<size_t>(0, MatrixKinds().size()),
                         [](const auto& kind) {
                           return MatrixKinds()[kind.param];
                         });

}  // namespace
}  // namespace lockstep
