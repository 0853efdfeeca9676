// Samples that a run passes over from some step on: never backwards, and
// whatever becomes of the trainer that was told.
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/skip_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

// Two adoptions along the way, the second part of which comes too late.
class LateSkipTest : public testing::Test {
 protected:
  void SetUp() override {
    options_ = {.recipe = SmallEpochs(),
                .sets = {"model.hidden_dropout=0.1", "checkpoint.every=3"},
                .steps = kSteps};
    Train(run_, 3, {});
    Train(run_, 6, {"26-33"});
    unseed_ = Train(run_, kSteps, {"50-60", "10-60"});
    metrics_ = run_.Metrics();
  }
  std::string Train(const TrainRig& rig, int64_t until,
                    const Texts& skips) const {
    RigOptions options = options_;
    options.until = until;
    options.skip_samples = skips;
    return rig.Unseed(options);
  }

  const TrainRig run_{"skip_late"};
  RigOptions options_;
  std::string unseed_;
  std::vector<std::string> metrics_;
};

TEST_F(LateSkipTest, ItActsFromItsAdoptionOnAndNeverBackwards) {
  ExpectRead(run_, {{0, 1, 2, 3, 4, 5, 6, 7},
                    {8, 9, 10, 11, 12, 13, 14, 15},
                    {16, 17, 18, 19, 20, 21, 22, 23},
                    {24, 25, 34, 35, 36, 37, 38, 39},
                    {40, 41, 42, 43, 44, 45, 46, 47},
                    {48, 49, 50, 51, 52, 53, 54, 55},
                    {61, 62, 63, 64, 65, 66, 67, 68},
                    {69, 70, 71, 72, 73, 74, 75, 76},
                    {77, 78, 79, 80, 81, 82, 83, 84}});
  const TrainRig plain("skip_plain");
  Train(plain, kSteps, {});
  const std::vector<Json> a = Steps(run_), b = Steps(plain);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i] == b[i], i < 3) << "step " << i + 1;
    EXPECT_EQ(a[i]["fingerprint"]["data"] == b[i]["fingerprint"]["data"], i < 3)
        << "step " << i + 1;
  }
  const std::vector<Json> events = SkipEvents(run_);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["first"], 26);
  EXPECT_EQ(events[0]["adopted_at"], 24);
  EXPECT_EQ(events[2]["first"], 10);
  EXPECT_EQ(events[2]["last"], 60);
  EXPECT_EQ(events[2]["adopted_at"], 56);
  EXPECT_EQ(events[2]["samples"], 5);
}

TEST_F(LateSkipTest, WithoutTheFlagItGoesOnTheSame) {
  for (int64_t stop = 4; stop < kSteps; ++stop) {
    const TrainRig rig(absl::StrCat("skip_late", stop));
    Train(rig, 3, {});
    Train(rig, std::min<int64_t>(stop, 6), {"26-33"});
    if (stop < 6) Train(rig, 6, {});
    if (stop > 6) Train(rig, stop, {"50-60", "10-60"});
    EXPECT_EQ(Train(rig, kSteps, stop > 6 ? Texts{} : Texts{"50-60", "10-60"}),
              unseed_)
        << stop;
    EXPECT_EQ(rig.Metrics(), metrics_) << stop;
  }
}

// Adopted, and gone before any checkpoint knew of it: the ledger does.
TEST_F(LateSkipTest, ATrainerThatDiesBeforeItSavesHasAdopted) {
  const TrainRig rig("skip_dies");
  Train(rig, 3, {});
  RigOptions dies = options_;
  dies.skip_samples = {"26-33"};
  dies.faults = {"kind=raise,step=5"};
  EXPECT_EQ(ExitCodeFor(rig.Train(dies).status), 7);
  RigOptions next = options_;
  next.until = 6;
  rig.Unseed(next);
  EXPECT_EQ(Train(rig, kSteps, {"50-60", "10-60"}), unseed_);
  EXPECT_EQ(rig.Metrics(), metrics_);
  EXPECT_EQ(SkipEvents(rig).size(), 3u);
}

// Back to a checkpoint before the adoptions: they are met again where they were
// made, to the same bits.
TEST_F(LateSkipTest, ARunThatGoesBackMeetsItsAdoptionsAgain) {
  RigOptions back = options_;
  back.resume = run_.dir() + "/checkpoints/step_00000003";
  EXPECT_EQ(run_.Unseed(back), unseed_);
  EXPECT_EQ(run_.Metrics(), metrics_);
}

TEST_F(LateSkipTest, AFreshStartInTheSameFolderHasNone) {
  const TrainRig plain("skip_plain_fresh");
  const std::string unseed = Train(plain, 5, {});
  RigOptions never = options_;
  never.resume = "never";
  never.until = 5;
  EXPECT_EQ(run_.Unseed(never), unseed);
  EXPECT_EQ(Train(run_, kSteps, {}), Train(plain, kSteps, {}));
}

}  // namespace
}  // namespace lockstep
