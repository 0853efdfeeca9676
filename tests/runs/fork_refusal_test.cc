// What a fork refuses, by name, and what such a refusal leaves behind.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/runs/fork_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

TEST_F(ForkTest, AnotherModelOrPrecisionIsRefusedByName) {
  const TrainRig fork("other_model");
  for (const char* set : {"model.hidden=32", "model.pattern=M-M*",
                          "precision.mode=bf16", "model.ffn=64"}) {
    RigOptions options = Fork(ckpt_);
    options.sets.push_back(set);
    options.allow = {"dirty", "model", "precision", "data"};
    const std::string key(set, std::string_view(set).find('='));
    Refused(fork, options, 3, key);
  }
  // What was refused left no run behind: the folder is still fresh.
  EXPECT_EQ(fork.Unseed(Fork(ckpt_)), unseed_);
}

TEST_F(ForkTest, OtherDataNeedAReasonAndTheCursorIsExplained) {
  const TrainRig fork("other_data");
  RigOptions options = Fork(ckpt_);
  options.sets.push_back("data.source.0.text=/usr/share/common-licenses/GPL-2");
  Refused(fork, options, 3, "data.files");
  options.allow = {"dirty", "data"};
  options.reason = "a second text";
  fork.Unseed(options);
  const std::string ledger = fork.Read("ledger.jsonl");
  EXPECT_TRUE(absl::StrContains(ledger, "the cursor stays at 16")) << ledger;
  EXPECT_TRUE(absl::StrContains(ledger, "a second text"));
  EXPECT_EQ(Json::parse(fork.Metrics()[0])["sample_first"], 16);
}

TEST_F(ForkTest, AnotherSeedIsOtherDataAndThenCounts) {
  const TrainRig fork("other_seed");
  RigOptions options = Fork(ckpt_);
  options.sets.push_back("seed=77");
  Refused(fork, options, 3, "seed");
  options.allow = {"dirty", "seed"};
  options.until = 3;
  fork.Unseed(options);
  RigOptions resumed = Options();
  resumed.sets.push_back("seed=77");
  fork.Unseed(resumed);
  EXPECT_EQ(fork.Metrics().size(), 5u);
  EXPECT_NE(fork.Metrics()[0], metrics_[2]);
}

TEST_F(ForkTest, TheFolderMustBeFreshAndTheCheckpointGood) {
  EXPECT_EQ(ExitCodeFor(parent_.Train(Fork(ckpt_)).status), 2);
  EXPECT_EQ(parent_.Metrics(), metrics_);
  const TrainRig fork("refused");
  Refused(fork, Fork(parent_.dir() + "/checkpoints/step_00000099"), 2,
          "no such checkpoint");
  Refused(fork, Fork(parent_.dir()), 2, "a run's folder");
  RigOptions both = Fork(ckpt_);
  both.resume = "must";
  Refused(fork, both, 2, "--resume");
  const std::string shard =
      std::string(kStep2).substr(1) + "/rank_00000.safetensors";
  std::string bytes = parent_.Read(shard);
  bytes[bytes.size() / 2] ^= 1;
  parent_.Write(shard, bytes);
  Refused(fork, Fork(ckpt_), 4, "damaged");
  EXPECT_FALSE(PosixFileSystem()->Exists(fork.dir()));
}

// Killed before its first checkpoint, it does not begin at step 0 instead.
TEST_F(ForkTest, WithoutItsFirstCheckpointItDoesNotBeginAnew) {
  const TrainRig fork("unborn");
  RigOptions options = Fork(ckpt_);
  options.faults.push_back("kind=enospc,at=save.shard.write");
  EXPECT_EQ(ExitCodeFor(fork.Train(options).status), 7);
  EXPECT_TRUE(fork.Exists("manifest.json"));
  const RigResult again = fork.Train(Options());
  EXPECT_EQ(ExitCodeFor(again.status), 4);
  EXPECT_TRUE(absl::StrContains(again.status.message(), "fork again"));
}

}  // namespace
}  // namespace lockstep
