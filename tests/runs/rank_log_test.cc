// RUN/logs: what each rank says of itself, whatever becomes of the run.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

RigOptions Two() {
  return {.sets = {"parallel.data=2", "checkpoint.every=2"},
          .steps = 4,
          .threads = 1,
          .ranks = 2};
}

// Each has its line, and in this order.
testing::AssertionResult HasInOrder(const std::string& log,
                                    const std::vector<std::string>& texts) {
  size_t at = 0;
  for (const std::string& text : texts) {
    at = log.find(text, at);
    if (at == std::string::npos) {
      return testing::AssertionFailure() << "no `" << text << "` in\n" << log;
    }
  }
  return testing::AssertionSuccess();
}

TEST(RankLogTest, EveryRankHasItsOwnFromBeginToEndOfEachLaunch) {
  const TrainRig run("rank_log");
  RigOptions options = Two();
  options.until = 2;
  run.Unseed(options);
  options.until.reset();
  const std::string unseed = run.Unseed(options);
  for (const int rank : {0, 1}) {
    const std::string log =
        run.Read("logs/rank_" + std::to_string(rank) + ".log");
    EXPECT_TRUE(HasInOrder(
        log, {"begins as rank " + std::to_string(rank) + " of 2", "step 0",
              "step 2 is saved", "ends behind step 2, unseed", "begins as rank",
              "behind step 2", "step 4 is saved",
              "ends behind step 4, unseed " + unseed}));
  }
  EXPECT_EQ(run.List("logs").size(), 2u);
}

TEST(RankLogTest, AFailureIsTheLastLine) {
  const TrainRig run("rank_log_failure");
  RigOptions options = Two();
  options.faults = {"kind=nan,step=2,at=lm_head.logits.forward,element=9"};
  EXPECT_FALSE(run.Train(options).status.ok());
  for (const char* log : {"logs/rank_0.log", "logs/rank_1.log"}) {
    EXPECT_TRUE(HasInOrder(run.Read(log), {"begins", "ends with 5: "}));
  }
}

// The run is what counts; a refused launch leaves no line behind.
TEST(RankLogTest, ALogThatCannotBeAndALaunchThatIsRefused) {
  const TrainRig sound("rank_log_sound"), run("rank_log_none");
  std::filesystem::create_directories(run.dir());
  run.Write("logs", "not a folder");
  EXPECT_EQ(run.Unseed(Two()), sound.Unseed(Two()));
  const std::string before = sound.Read("logs/rank_0.log");
  RigOptions other = Two();
  other.sets.push_back("seed=7");
  EXPECT_FALSE(sound.Train(other).status.ok());
  EXPECT_EQ(sound.Read("logs/rank_0.log"), before);
}

}  // namespace
}  // namespace lockstep
