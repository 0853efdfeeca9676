// Checkpoints whose bytes all hold and that no load can use: a run goes on from
// the one before, on all ranks alike, and says why.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/reseal_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

class WalkBackTest : public testing::TestWithParam<int64_t> {};

TEST_P(WalkBackTest, ALoadThatFailsIsFollowedByAnOlderOne) {
  const std::string ranks = absl::StrCat(GetParam());
  const TrainRig rig("walk" + ranks), clean("walk_clean" + ranks);
  RigOptions options = {.sets = {"checkpoint.every=2", "checkpoint.keep=9",
                                 "parallel.data=" + ranks},
                        .steps = 8,
                        .threads = 1,
                        .ranks = GetParam()};
  const std::string unseed = clean.Unseed(options);
  RigOptions stopped = options;
  stopped.until = 6;
  rig.Unseed(stopped);
  Reseal(rig, 6, OtherFingerprint);
  Reseal(rig, 4, OtherKind);
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_TRUE(SameLines(rig.Metrics(), clean.Metrics()));
  const std::string ledger = rig.Read("ledger.jsonl");
  EXPECT_TRUE(absl::StrContains(
      ledger,
      "passed over step_00000006: the loaded state is not what was "
      "saved"))
      << ledger;
  EXPECT_TRUE(absl::StrContains(
      ledger, "passed over step_00000004: the checkpoint does not fit"))
      << ledger;
  EXPECT_TRUE(absl::StrContains(ledger, "\"event\":\"resume\",\"step\":2"))
      << ledger;
}

TEST_P(WalkBackTest, WhereNoneCanBeLoadedEachIsNamedAndNothingBeginsAnew) {
  const std::string ranks = absl::StrCat(GetParam());
  const TrainRig rig("none" + ranks);
  RigOptions options = {
      .sets = {"checkpoint.every=2", "parallel.data=" + ranks},
      .steps = 6,
      .threads = 1,
      .ranks = GetParam(),
      .until = 4};
  rig.Unseed(options);
  Reseal(rig, 4, OtherKind);
  Reseal(rig, 2, OtherFingerprint);
  const auto folders = rig.List("checkpoints");
  options.until = {};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 4) << result.status;
  for (const char* const why :
       {"none is usable", "step_00000004: the checkpoint does not fit",
        "step_00000002: the loaded state is not what was saved"}) {
    EXPECT_TRUE(absl::StrContains(result.status.message(), why))
        << why << " in " << result.status;
  }
  EXPECT_EQ(rig.List("checkpoints"), folders);
  // One that was asked for by name is taken or refused.
  options.resume = "step_00000004";
  EXPECT_EQ(ExitCodeFor(rig.Train(options).status), 4);
}

INSTANTIATE_TEST_SUITE_P(Ranks, WalkBackTest, testing::Values(1, 2));

}  // namespace
}  // namespace lockstep
