// What a run took on before its first checkpoint belongs to the run: a trainer
// that is killed then begins again at step 1 and has it still.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/skip_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

constexpr char kLeftBehind[] = "a fresh start, without the 2 range(s) of run";

// No checkpoint before step 4, the last.
class FirstLaunchTest : public testing::Test {
 protected:
  static RigOptions Options(const std::string& kill_at, const Texts& skips) {
    RigOptions options = {
        .recipe = SmallEpochs(), .sets = {"checkpoint.every=100"}, .steps = 4};
    if (!kill_at.empty()) options.faults = {"kind=kill,step=" + kill_at};
    options.skip_samples = skips;
    return options;
  }
  static std::string Warnings(const TrainRig& rig, const RigOptions& options) {
    testing::internal::CaptureStderr();
    rig.Unseed(options);
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(FirstLaunchTest, TheSkipListOutlivesATrainerKilledBeforeItsCheckpoint) {
  const TrainRig rig("first_killed"), unbroken("first_unbroken");
  const Texts skips = {"8-15", "20-22"};
  const std::string unseed = unbroken.Unseed(Options("", skips));
  rig.TrainUntilKilled(Options("3", skips));
  rig.TrainUntilKilled(Options("2", {}));
  EXPECT_TRUE(absl::StrContains(
      Warnings(rig, Options("", {})),
      "skip list: samples 8 to 15, adopted at sample 0: 8 passed over\n"
      "skip list: samples 20 to 22, adopted at sample 0: 3 passed over\n"));
  ExpectRead(rig, {{0, 1, 2, 3, 4, 5, 6, 7},
                   {16, 17, 18, 19, 23, 24, 25, 26},
                   {27, 28, 29, 30, 31, 32, 33, 34},
                   {35, 36, 37, 38, 39, 40, 41, 42}});
  EXPECT_EQ(rig.Metrics(), unbroken.Metrics());
  EXPECT_EQ(SkipEvents(rig).size(), 2u);
  EXPECT_EQ(rig.Unseed(Options("", {})), unseed);
}

// Only a fresh start that was asked for has none of them, and says so once.
TEST_F(FirstLaunchTest, AFreshStartLeavesThemBehindAndSaysSo) {
  const TrainRig rig("first_never"), plain("first_plain");
  const std::string unseed = plain.Unseed(Options("", {}));
  rig.TrainUntilKilled(Options("3", {"8-15", "20-22"}));
  RigOptions never = Options("", {});
  never.resume = "never";
  never.until = 2;
  EXPECT_TRUE(absl::StrContains(Warnings(rig, never), kLeftBehind));
  EXPECT_FALSE(absl::StrContains(Warnings(rig, Options("", {})), "skip list"));
  EXPECT_EQ(rig.Unseed(Options("", {})), unseed);
  EXPECT_EQ(rig.Metrics(), plain.Metrics());
}

// A batch that was allowed is the run's from then on, checkpoint or not: the
// launch after it needs no second permission, and the old batch does. (A curve
// without a length: tests/cases/curve_test.cc has one with.)
TEST_F(FirstLaunchTest, AnAllowedDifferenceOutlivesItToo) {
  const TrainRig rig("first_batch");
  RigOptions first = Options("3", {});
  first.sets.insert(first.sets.end(),
                    {"schedule.shape=constant", "schedule.warmup=0"});
  rig.TrainUntilKilled(first);
  RigOptions other = first;
  other.sets.push_back("batch.global=4");
  EXPECT_EQ(ExitCodeFor(rig.Train(other).status), 3);
  other.allow = {"dirty", "batch.global", "schedule"};
  rig.TrainUntilKilled(other);
  other.allow = {"dirty"};
  other.faults = {};
  EXPECT_EQ(ExitCodeFor(rig.Train(first).status), 3);
  rig.Unseed(other);
  const std::vector<Json> steps = Steps(rig);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[3]["samples_seen"], 16);
}

// A fault is its launch's, not the run's: the launch that begins again without
// it has made every step of the run.
TEST_F(FirstLaunchTest, AFaultOfTheKilledLaunchIsNotTheRuns) {
  const TrainRig rig("first_fault"), plain("first_no_fault");
  RigOptions faulty = Options("3", {});
  faulty.faults.push_back("kind=skip_sample,step=1,sample=2");
  rig.TrainUntilKilled(faulty);
  plain.Unseed(Options("", {}));
  EXPECT_NE(Steps(rig)[0], Steps(plain)[0]);
  rig.Unseed(Options("", {}));
  EXPECT_EQ(rig.Metrics(), plain.Metrics());
}

// The curve's length is resolved at a run's step 0: a fresh start has a new
// one.
TEST_F(FirstLaunchTest, AFreshStartResolvesItsOwnCurve) {
  const TrainRig rig("first_curve", TrainRig::kAsShipped);
  const auto length = [&] {
    return Json::parse(rig.Read("manifest.json"))["schedule_length_samples"];
  };
  rig.Unseed({.until = 1});
  EXPECT_EQ(length(), 160);
  rig.Unseed({.sets = {"train.steps=40"}, .until = 2});
  EXPECT_EQ(length(), 160);
  rig.Unseed({.sets = {"train.steps=40"}, .until = 1, .resume = "never"});
  EXPECT_EQ(length(), 320);
}

}  // namespace
}  // namespace lockstep
