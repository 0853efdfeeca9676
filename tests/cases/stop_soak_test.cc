// All triples of places of all kinds of run; settings take turns, so that each
// triple and each place of each generation meets many of them. For hours in
// which a machine has nothing else to do (tagged manual).
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/cases/stop_matrix.h"

namespace lockstep {
namespace {

// One kind and one place of the first stop, so that shards share the work.
class StopSoakTest : public testing::TestWithParam<size_t> {
 protected:
  size_t kind() const { return GetParam() / kStopPlaces; }
  int64_t first() const {
    return static_cast<int64_t>(GetParam() % kStopPlaces);
  }
};

TEST_P(StopSoakTest, EveryTripleIsTheUnbrokenRun) {
  const UnbrokenRun unbroken(MatrixKinds()[kind()]);
  constexpr int64_t kMicros[] = {1, 2, 4};
  auto turn = static_cast<int64_t>(5 * GetParam());
  int64_t combinations = 0, lines = 0;
  for (int64_t second = 0; second < kStopPlaces; ++second) {
    for (int64_t third = 0; third < kStopPlaces; ++third) {
      Combination combination = {MatrixKinds()[kind()], {}};
      const int64_t places[] = {first(), second, third};
      for (size_t g = 0; g < kGenerations; ++g, turn += 7) {
        combination.launches[g] = {static_cast<StopPlace>(places[g]),
                                   kMicros[turn % 3], 1 + turn / 3 % 3,
                                   1 + turn / 9 % 3};
      }
      lines += unbroken.Compare(combination);
      ++combinations;
    }
  }
  EXPECT_EQ(combinations, kStopPlaces * kStopPlaces);
  EXPECT_EQ(lines, combinations * kMatrixSteps);
  printf("%s: %lld combinations\n", MatrixKinds()[kind()].c_str(),
         static_cast<long long>(combinations));
}

INSTANTIATE_TEST_SUITE_P(Kinds, StopSoakTest,
                         testing::Range<size_t>(0, MatrixKinds().size() *
                                                       kStopPlaces));

}  // namespace
}  // namespace lockstep
