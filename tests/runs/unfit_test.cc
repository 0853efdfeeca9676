// A checkpoint whose bytes all hold and that no load takes: whoever reads a run
// goes back to the one before, and says what was passed over and why.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "tests/runs/replay_for_test.h"
#include "tests/train/reseal_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/audit_verbs.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr char kWhy[] =
    "passed over step_00000004: the loaded state is not what was saved";

TrainRig RunOfSix(const std::string& name, int64_t ranks = 1) {
  const TrainRig rig(name);
  RigOptions options = TwoRanks("layout_invariant");
  options.ranks = ranks;
  options.sets[1] = ranks == 2 ? "parallel.data=2" : "parallel.data=1";
  options.sets.push_back("checkpoint.keep=9");
  rig.Unseed(options);
  return rig;
}

TEST(UnfitTest, ReplayBeginsEarlierOnAllRanks) {
  for (const int64_t ranks : {1, 2}) {
    const TrainRig rig = RunOfSix(ranks == 1 ? "one" : "two", ranks);
    Reseal(rig, 4, OtherFingerprint);
    const Replayed replayed = Replay(rig, {.from = 5, .to = 6});
    EXPECT_EQ(replayed.json["verdict"], "recurs_to_the_bit");
    EXPECT_EQ(replayed.json["began_at"], 2);
    EXPECT_EQ(replayed.json["ranks"], ranks);
    EXPECT_EQ(replayed.json["notes"].size(), 1u);
    EXPECT_TRUE(absl::StrContains(replayed.json.dump(), kWhy));
    // What is left out is left out of all steps that are done again.
    const Replayed without =
        Replay(rig, {.from = 5, .to = 6, .skip_samples = {"25-26"}});
    EXPECT_EQ(without.json["began_at"], 2);
    EXPECT_FALSE(absl::StrContains(without.json.dump(), "stays"));
    Reseal(rig, 2, OtherKind);
    ReplayVerbOptions options = {.run_dir = rig.dir(), .from = 5, .to = 6};
    const auto none = ReplayVerb(options).status();
    EXPECT_EQ(ExitCodeFor(none), 4);
    EXPECT_TRUE(absl::StrContains(none.message(), kWhy)) << none;
    EXPECT_TRUE(absl::StrContains(
        none.message(), "passed over step_00000002: the checkpoint does not"))
        << none;
  }
}

TEST(UnfitTest, ExplainBeginsEarlier) {
  const TrainRig rig = RunOfSix("explained");
  Reseal(rig, 4, OtherFingerprint);
  const auto answer =
      ExplainVerb({.run_dir = rig.dir(), .step = 6, .window = 1, .json = true});
  ASSERT_TRUE(answer.ok()) << answer.status();
  const Json json = Json::parse(answer->text);
  EXPECT_EQ(json["began_at"], 2);
  EXPECT_EQ(json["verdict"], "recurs_to_the_bit");
  EXPECT_TRUE(absl::StrContains(answer->text, kWhy));
}

TEST(UnfitTest, AnAuditNamesTheSegmentAndGoesOn) {
  const TrainRig rig = RunOfSix("audited");
  Reseal(rig, 4, [](CheckpointIndex& index) {
    index.runtime_fingerprint[3] ^= 1;  // no reader without a model sees it
  });
  const auto answer = VerifyRunVerb(
      {.path = rig.dir(), .segments = 9, .seed = 1, .json = true});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->negative);
  const Json json = Json::parse(answer->text);
  EXPECT_EQ(json["replayed"], 3);
  EXPECT_TRUE(
      absl::StrContains(answer->text, "step_00000004 cannot be begun from"));
}

TEST(UnfitTest, GenerateTakesTheOneBeforeAndSaysSo) {
  const TrainRig rig = RunOfSix("generated");
  Reseal(rig, 6, OtherFingerprint);
  GenerateVerbOptions options = {
      .run_dir = rig.dir(), .checkpoint = "", .prompt = "a", .json = true};
  options.tokens = 2;
  testing::internal::CaptureStderr();
  const auto answer = GenerateVerb(options);
  const std::string told = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(Json::parse(answer->text)["step"], 4);
  EXPECT_TRUE(absl::StrContains(told, "passed over step_00000006"));
  EXPECT_TRUE(absl::StrContains(told, "step 4 is used"));
  // One that was asked for by name is taken or refused.
  options.checkpoint = "step_00000006";
  EXPECT_EQ(ExitCodeFor(GenerateVerb(options).status()), 4);
}

// Else every checkpoint would be passed over, and blamed.
TEST(UnfitTest, AnotherModelIsTheSettingsFault) {
  const TrainRig rig = RunOfSix("other_model");
  ReplayVerbOptions options = {.run_dir = rig.dir(), .from = 5, .to = 6};
  options.sets = {"model.hidden=32"};
  const auto status = ReplayVerb(options).status();
  EXPECT_EQ(ExitCodeFor(status), 2);
  EXPECT_TRUE(absl::StrContains(status.message(), "model.hidden: 64 -> 32"))
      << status;
  options.sets = {"precision.mode=bf16"};
  EXPECT_EQ(ExitCodeFor(ReplayVerb(options).status()), 2);
  options.from_seed = true;
  EXPECT_TRUE(ReplayVerb(options).ok());
  // These change how it is computed, or where it is cut.
  EXPECT_EQ(Replay(rig, {.from = 5, .to = 6, .sets = {"model.chunk=16"}})
                .json["began_at"],
            4);
}

}  // namespace
}  // namespace lockstep
