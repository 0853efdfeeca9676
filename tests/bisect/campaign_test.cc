// Twenty faults that nobody picked; campaign_soak_test takes two hundred.
#include "tests/bisect/campaign.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/bisect/campaign_plan.h"

namespace lockstep {
namespace {

int Setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// Cases FIRST .. FIRST + n - 1.
int First() { return Setting("LOCKSTEP_CAMPAIGN_FIRST", 0); }
int Cases() { return Setting("LOCKSTEP_CAMPAIGN_CASES", 20); }

// Half as many pairs as cases.
TEST(CampaignTest, EqualRunsRaiseNoAlarm) {
  Campaign campaign;
  int silent = 0;
  for (int number = First(); number < First() + Cases() / 2; ++number) {
    const std::string alarm = campaign.AlarmOfEqualRuns(number);
    EXPECT_EQ(alarm, "") << number;
    silent += alarm.empty();
    std::fflush(stdout);
  }
  std::printf("%d equal pairs, no alarm in %d\n", Cases() / 2, silent);
  EXPECT_GT(silent, 0);
}

struct Count {
  int planted = 0, matter = 0, named = 0;
};

void Take(const CampaignCase& one, Count& count) {
  ++count.planted;
  count.matter += one.matters;
  count.named += one.named;
}

void Print(const CampaignCase& one) {
  if (one.named) {
    std::printf("named: %s\n", one.about.c_str());
  } else if (one.matters) {
    std::printf("not named: %s\n  %s", one.about.c_str(), one.said.c_str());
  } else {
    std::printf("excluded: %s: %s\n", one.about.c_str(), one.proof.c_str());
  }
  std::fflush(stdout);
}

TEST(CampaignTest, BisectNamesTheFaultsThatMatter) {
  ASSERT_GT(Cases(), 0);
  Campaign campaign;
  Count all;
  std::map<std::string, Count> kinds;
  for (int number = First(); number < First() + Cases(); ++number) {
    const CampaignCase one = campaign.Run(number);
    EXPECT_FALSE(one.false_alarm) << one.about << one.said;
    // Who does not matter is proven equal.
    EXPECT_NE(one.matters, !one.proof.empty()) << one.about;
    Take(one, all);
    Take(one, kinds[one.kind]);
    Print(one);
  }
  for (const std::string& kind : PlannedKinds()) {
    const Count& count = kinds[kind];
    std::printf("%-16s %3d planted, %3d matter, %3d named\n", kind.c_str(),
                count.planted, count.matter, count.named);
    // The only one of its kind may change nothing.
    const bool certain = count.matter > 0 || count.planted > 2;
    EXPECT_GE(count.named, certain ? 1 : 0) << kind;
  }
  std::printf(
      "%d faults, %d matter, %d of them named; %d are excluded, each proven "
      "equal\n",
      all.planted, all.matter, all.named, all.planted - all.matter);
  EXPECT_GE(all.matter, all.planted / 2) << "too few matter to say anything";
  EXPECT_GE(all.named * 100, all.matter * 99);
}

}  // namespace
}  // namespace lockstep
