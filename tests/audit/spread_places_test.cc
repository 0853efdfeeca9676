// Which segments of a run are done again.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tools/audit.h"

namespace lockstep {
namespace {

// Every segment is taken by exactly `count` of `all` equally likely starts, and
// a sample has no segment twice.
TEST(SpreadPlacesTest, EachHasTheSameChanceAndTheyAreSpread) {
  for (size_t all = 1; all <= 9; ++all) {
    for (size_t count = 1; count <= all; ++count) {
      std::map<std::vector<size_t>, int64_t> samples;
      for (uint64_t seed = 0; seed < 2000; ++seed) {
        ++samples[SpreadPlaces(all, count, seed)];
      }
      std::map<size_t, int64_t> chosen;
      for (const auto& [places, times] : samples) {
        EXPECT_EQ(std::set<size_t>(places.begin(), places.end()).size(), count);
        EXPECT_LT(places.back(), all);
        for (size_t i = 1; i < places.size(); ++i) {
          EXPECT_GE(places[i] - places[i - 1], all / count);
          EXPECT_LE(places[i] - places[i - 1], (all + count - 1) / count);
        }
        for (const size_t place : places) chosen[place] += times;
      }
      EXPECT_EQ(chosen.size(), all);
      for (const auto& [place, times] : chosen) {
        EXPECT_NEAR(
            static_cast<double>(times),
            2000.0 * static_cast<double>(count) / static_cast<double>(all),
            200.0);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
