// A run that goes on on another rung of the guarantee. The exponents of
// gradients (N5) are state of `layout_invariant` alone: a checkpoint from below
// has none and the next step probes, one from there has some that nobody takes.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

RigOptions On(const std::string& guarantee) {
  return {.sets = {"guarantee=" + guarantee}, .steps = 6, .until = 3};
}

class RungTest : public testing::TestWithParam<bool> {
 protected:
  const std::string from_ = GetParam() ? "bitwise" : "layout_invariant";
  const std::string to_ = GetParam() ? "layout_invariant" : "bitwise";
  const TrainRig rig_{absl::StrCat("rung_", to_)};
};

TEST_P(RungTest, IsAskedForAndThenGoesOn) {
  rig_.Unseed(On(from_));
  RigOptions other = On(to_);
  other.until = 6;
  const RigResult refused = rig_.Train(other);
  EXPECT_EQ(ExitCodeFor(refused.status), 3) << refused.status.message();
  EXPECT_EQ(rig_.Metrics().size(), 3u);
  other.allow = {"dirty", "guarantee"};
  const std::string unseed = rig_.Unseed(other);
  EXPECT_EQ(rig_.Metrics().size(), 6u);
  EXPECT_TRUE(absl::StrContains(rig_.Read("ledger.jsonl"), "guarantee"));
  // What it goes on from is that state: a second run that does the same is the
  // same, and a third that was never changed is not.
  const TrainRig again(absl::StrCat("rung_again_", to_));
  again.Unseed(On(from_));
  EXPECT_EQ(again.Unseed(other), unseed);
  EXPECT_EQ(again.Metrics(), rig_.Metrics());
  const TrainRig never(absl::StrCat("rung_never_", to_));
  RigOptions unchanged = On(from_);
  unchanged.until = 6;
  EXPECT_NE(never.Unseed(unchanged), unseed);
}

TEST_P(RungTest, AForkMayTakeAnother) {
  rig_.Unseed(On(from_));
  const TrainRig fork(absl::StrCat("rung_fork_", to_));
  RigOptions options = On(to_);
  options.until = 5;
  options.fork = rig_.dir() + "/checkpoints/step_00000003";
  fork.Unseed(options);
  EXPECT_EQ(fork.Metrics().size(), 2u);
  // And is a run like any other: it resumes from its own checkpoints, all of
  // whose entries are its rung's.
  RigOptions rest = On(to_);
  rest.until = 6;
  fork.Unseed(rest);
  EXPECT_EQ(fork.Metrics().size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(UpAndDown, RungTest, testing::Bool());

}  // namespace
}  // namespace lockstep
