// Twenty faults that nobody picked; campaign_soak_test takes two hundred.
#include "tests/bisect/campaign.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace lockstep {
namespace {

// Cases 0 .. n - 1.
int Cases() {
  const char* text = std::getenv("LOCKSTEP_CAMPAIGN_CASES");
  return text == nullptr ? 20 : std::atoi(text);
}

// Half as many pairs as cases.
TEST(CampaignTest, EqualRunsRaiseNoAlarm) {
  Campaign campaign;
  int silent = 0;
  for (int number = 0; number < Cases() / 2; ++number) {
    const std::string alarm = campaign.AlarmOfEqualRuns(number);
    EXPECT_EQ(alarm, "") << number;
    silent += alarm.empty();
  }
  std::printf("%d equal pairs, no alarm in %d\n", Cases() / 2, silent);
  EXPECT_GT(silent, 0);
}

TEST(CampaignTest, BisectNamesTheFaultsThatMatter) {
  const int cases = Cases();
  ASSERT_GT(cases, 0);
  Campaign campaign;
  int matter = 0, named = 0;
  for (int number = 0; number < cases; ++number) {
    const CampaignCase one = campaign.Run(number);
    EXPECT_FALSE(one.false_alarm) << one.about;
    if (!one.matters) {
      std::printf("no line differs: %s\n", one.about.c_str());
      continue;
    }
    ++matter;
    named += one.named;
    if (!one.named) {
      std::printf("not named: %s\n  %s", one.about.c_str(), one.said.c_str());
    }
  }
  // Who does not matter is proven equal: no line of either run differs, and
  // the last has the state's fingerprint.
  std::printf(
      "%d faults, %d matter, %d of them named; %d left every line equal\n",
      cases, matter, named, cases - matter);
  EXPECT_GE(matter, cases / 2) << "too few matter to say anything";
  EXPECT_GE(named * 100, matter * 99);
}

}  // namespace
}  // namespace lockstep
