// What a launcher does next: nights of failures in a millisecond.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tools/launch/launch_for_test.h"

namespace lockstep {
namespace {

TEST(LaunchMachineTest, StartsOnTheLayoutThatIsWantedAndEndsWithTheJob) {
  LaunchMachine machine(Policy());
  Only(machine.Begin(0), Kind::kAskHosts);
  const LaunchAction start =
      Only(machine.HostsSeen(5, Hosts({"a", "b", "s1"})), Kind::kStart);
  EXPECT_EQ(start.layout, Policy().wanted);
  EXPECT_EQ(NamesOf(start), (Names{"a", "b"}));
  EXPECT_EQ(start.idle, Names{"s1: all of 4 slots"});
  EXPECT_FALSE(start.resize.has_value());
  EXPECT_TRUE(machine.Tick(100).empty());
  EXPECT_EQ(Only(machine.JobEnded(200, {.exit_code = 0}), Kind::kEnd).exit_code,
            0);
  EXPECT_TRUE(machine.Tick(1'000'000).empty());
}

TEST(LaunchMachineTest, WhatTryingAgainDoesNotChangeIsTheEnd) {
  for (const int code : {0, 2, 3, 4, 5, 8}) {
    LaunchMachine machine = Started();
    const LaunchAction end = Only(
        machine.JobEnded(1, {.exit_code = code, .what = "why"}), Kind::kEnd);
    EXPECT_EQ(end.exit_code, code);
    EXPECT_EQ(end.message, "why");
  }
}

TEST(LaunchMachineTest, RetriesWithBackOffUntilThereAreTooMany) {
  LaunchMachine machine = Started();
  int64_t now = 0;
  std::vector<int64_t> waits;
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_TRUE(
        machine.JobEnded(now, {.exit_code = 137, .step = 5 + attempt}).empty());
    const int64_t asked = UntilItAsks(machine, now);
    waits.push_back(asked - now);
    now = asked;
    const LaunchAction start =
        Only(machine.HostsSeen(now, Hosts({"a", "b"})), Kind::kStart);
    EXPECT_FALSE(start.resize.has_value());
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{1000, 2000, 4000}));
  const LaunchAction end = Only(
      machine.JobEnded(now, {.exit_code = 137, .what = "killed"}), Kind::kEnd);
  EXPECT_EQ(end.exit_code, 6);
  EXPECT_NE(end.message.find("killed; no checkpoint came of the last 3 "),
            std::string::npos)
      << end.message;
}

TEST(LaunchMachineTest, ANewCheckpointForgivesEarlierFailures) {
  LaunchMachine machine = Started();
  int64_t now = 0;
  for (int64_t attempt = 0; attempt < 20; ++attempt) {
    ASSERT_TRUE(machine
                    .JobEnded(now, {.exit_code = 6,
                                    .step = attempt + 1,
                                    .saved_step = attempt})
                    .empty());
    const int64_t asked = UntilItAsks(machine, now);
    EXPECT_EQ(asked - now, 1000);
    now = asked;
    Only(machine.HostsSeen(now, Hosts({"a", "b"})), Kind::kStart);
  }
}

TEST(LaunchMachineTest, AnInternalErrorThatRecursEndsWithItsOwnCode) {
  LaunchPolicy policy = Policy();
  policy.retries = 0;
  LaunchMachine machine = Started(policy);
  const LaunchAction end =
      Only(machine.JobEnded(1, {.exit_code = 7}), Kind::kEnd);
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_NE(end.message.find("it is not tried again"), std::string::npos)
      << end.message;
}

TEST(LaunchMachineTest, TheSameStepTwiceOnOneHostExcludesIt) {
  LaunchMachine machine = Started();
  int64_t now = 0;
  for (const int64_t step : {7, 8, 8}) {
    machine.JobEnded(now, {.exit_code = 6, .step = step, .host = "b"});
    EXPECT_EQ(machine.excluded().contains("b"), step == 8 && now > 2000);
    now = UntilItAsks(machine, now);
    const Actions actions = machine.HostsSeen(now, Hosts({"a", "b", "s1"}));
    const LaunchAction start = Only(actions, Kind::kStart);
    EXPECT_EQ(NamesOf(start)[1], machine.excluded().contains("b") ? "s1" : "b");
  }
  EXPECT_TRUE(machine.excluded().contains("b"));
}

TEST(LaunchMachineTest, ToldToStopItTellsTheJobAndWaitsThenKills) {
  LaunchMachine machine = Started();
  Only(machine.ToldToStop(10), Kind::kTellToStop);
  EXPECT_TRUE(machine.Tick(1000).empty());
  EXPECT_EQ(
      Only(machine.JobEnded(2000, {.exit_code = 8}), Kind::kEnd).exit_code, 8);

  LaunchMachine twice = Started();
  twice.ToldToStop(10);
  Only(twice.ToldToStop(20), Kind::kKill);
  EXPECT_TRUE(twice.ToldToStop(30).empty());  // once is enough
  // What it saved before that is said, and not guessed.
  const LaunchAction end =
      Only(twice.JobEnded(40, {.exit_code = 137, .saved_step = 6}), Kind::kEnd);
  EXPECT_EQ(end.exit_code, 8);
  EXPECT_NE(end.message.find("the newest checkpoint is of step 6"),
            std::string::npos);

  LaunchMachine slow = Started();
  slow.ToldToStop(0);
  EXPECT_TRUE(slow.Tick(599'000).empty());
  Only(slow.Tick(600'000), Kind::kKill);
  EXPECT_TRUE(slow.Tick(600'100).empty());

  LaunchMachine waiting = Started();
  waiting.JobEnded(0, {.exit_code = 6});
  EXPECT_EQ(Only(waiting.ToldToStop(1), Kind::kEnd).exit_code, 8);
}

TEST(LaunchMachineTest, ALostRankWhoseJobGoesOnIsKilledAndStartedAgain) {
  LaunchMachine machine = Started();
  machine.WordsSeen(1000);
  machine.WordsSeen(9000);
  EXPECT_TRUE(machine.Tick(5'900).empty());
  Only(machine.Tick(6'000), Kind::kKill);
  EXPECT_TRUE(machine.JobEnded(6'100, {.exit_code = 137}).empty());
  const int64_t now = UntilItAsks(machine, 6'100);
  Only(machine.HostsSeen(now, Hosts({"a", "b"})), Kind::kStart);
  EXPECT_TRUE(machine.Tick(now + 100'000).empty());  // other words
}

TEST(LaunchMachineTest, AHostOfTheJobThatDoesNotAnswerTwiceEndsIt) {
  LaunchMachine machine = Started();  // on a and b; s1 is idle
  EXPECT_TRUE(machine.Probed({{"b", "late"}, {"s1", "late"}}).empty());
  EXPECT_TRUE(machine.Probed({{"a", "late"}, {"s1", "late"}}).empty());
  EXPECT_TRUE(machine.Probed({{"b", "late"}, {"s1", "late"}}).empty());
  const LaunchAction kill =
      Only(machine.Probed({{"b", "its probe is late"}}), Kind::kKill);
  EXPECT_EQ(kill.message, "b does not answer: its probe is late");
  EXPECT_TRUE(machine.Probed({{"b", "late"}}).empty());  // once is enough
  // Not the host whose rank others waited for: the one that is gone.
  machine.JobEnded(100, {.exit_code = 137, .step = 4, .host = "a"});
  int64_t now = UntilItAsks(machine, 100);
  Only(machine.HostsSeen(now, Hosts({"a", "b"})), Kind::kStart);
  EXPECT_TRUE(machine.Probed({{"a", "late"}}).empty());  // counted anew
  machine.Probed({{"b", "late"}});
  Only(machine.Probed({{"b", "late"}}), Kind::kKill);
  machine.JobEnded(now, {.exit_code = 137, .step = 4});
  EXPECT_EQ(machine.excluded(), std::set<std::string>{"b"});
}

// A rank of the old job behind a pulled cable has the lock until its watchdog
// or the file system ends that.
TEST(LaunchMachineTest, ARunThatSomebodyHasIsWaitedForAndNotForEver) {
  LaunchMachine machine = Started();
  machine.JobEnded(0, {.exit_code = 137, .step = 4});
  int64_t now = UntilItAsks(machine, 0);
  EXPECT_TRUE(machine.RunHeld(now, "rank 0").empty());
  EXPECT_TRUE(machine.HostsSeen(now, Hosts({"a", "b"})).empty());  // late
  now = UntilItAsks(machine, now);
  Only(machine.HostsSeen(now, Hosts({"a", "b"})), Kind::kStart);

  LaunchMachine for_ever = Started();
  for_ever.JobEnded(0, {.exit_code = 137, .step = 4});
  Actions actions;
  for (now = 0; actions.empty() && now < 1'000'000;) {
    now = UntilItAsks(for_ever, now);
    actions = for_ever.RunHeld(now, "a trainer on b");
  }
  const LaunchAction end = Only(actions, Kind::kEnd);
  EXPECT_EQ(end.exit_code, 6);
  EXPECT_GE(now, 600'000);
  EXPECT_NE(end.message.find("a trainer on b still has the run"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
