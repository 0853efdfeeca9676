// A run meets a failing call of the file system in the step that saves, any of
// them in turn: it ends with the right error or goes on, and the next launch
// ends in the unbroken run's lines. A save without a thread of its own makes a
// call for each tensor, of which some fail here (all of them:
// ckpt/each_call_test.cc).
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

struct Failing {
  const char* name;
  const char* kind;
  const char* at;
  bool async;
  int stride = 1;  // one of so many calls is made to fail
};

class EachCallRunTest : public testing::TestWithParam<Failing> {};

// More calls than a step with a save makes, tensor by tensor too.
constexpr int kMost = 1000;

TEST_P(EachCallRunTest, EndsWithTheErrorOrGoesOn) {
  const Failing& failing = GetParam();
  RigOptions options = {
      .recipe = SmallRecipe(absl::StrCat("each_call_", failing.name), 40),
      .sets = {"checkpoint.every=2", "schedule.warmup=1",
               "metrics.tensorboard=false",
               absl::StrCat("checkpoint.async=",
                            failing.async ? "true" : "false")},
      .steps = 6};
  const TrainRig straight = SmallRig("each_call_straight");
  const std::string unseed = straight.Unseed(options);
  int calls = 0, ended = 0;
  int call = 1;
  for (; call < kMost && !HasFailure(); call += failing.stride) {
    SCOPED_TRACE(absl::StrCat("call ", call));
    const TrainRig rig = SmallRig(absl::StrCat("each_call_", call));
    RigOptions broken = options;
    broken.faults = {absl::StrCat("kind=", failing.kind, ",step=4,at=",
                                  failing.at, ",occurrence=", call)};
    testing::internal::CaptureStderr();
    const RigResult result = rig.Train(broken);
    const std::string said = testing::internal::GetCapturedStderr();
    if (absl::StrContains(said, "never met")) break;
    ++calls;
    if (!result.status.ok()) {
      ++ended;
      EXPECT_EQ(ExitCodeFor(result.status), 7) << result.status;
      EXPECT_TRUE(absl::StrContains(result.status.message(), rig.dir()))
          << result.status;
    }
    // The fault is on record; it does not stand in the way.
    EXPECT_EQ(rig.Unseed(options), unseed);
    EXPECT_TRUE(SameLines(rig.Metrics(), straight.Metrics()));
  }
  EXPECT_GT(calls, 2);
  EXPECT_LT(call, kMost);
  EXPECT_GT(ended, 2);
  RecordProperty("calls", calls);
  RecordProperty("ended", ended);
  printf("%s: %d calls, %d ended the run\n", failing.name, calls, ended);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EachCallRunTest,
    testing::Values(Failing{"eio", "eio", "save.*.*", true},
                    Failing{"enospc", "enospc", "save.*.*", true},
                    Failing{"short", "short_write", "save.*.write", true},
                    Failing{"waiting", "eio", "save.*.*", false, 9}),
    [](const auto& failing) { return std::string(failing.param.name); });

}  // namespace
}  // namespace lockstep
