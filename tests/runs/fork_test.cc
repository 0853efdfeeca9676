// `train --fork CKPT --run NEW`: a run of its own that goes on from another's
// state, its parent on record and untouched.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/runs/fork_rig.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

TEST_F(ForkTest, WithTheSameRecipeItIsTheParentsContinuation) {
  const TrainRig fork("fork");
  const std::string parent_ledger = parent_.Read("ledger.jsonl");
  EXPECT_EQ(fork.Unseed(Fork(ckpt_)), unseed_);
  EXPECT_EQ(fork.Metrics(), After(metrics_, 2));
  EXPECT_EQ(fork.Metrics().size(), 5u);
  const Json parent = Manifest(parent_), child = Manifest(fork);
  EXPECT_EQ(parent["lineage"], parent["run_id"]);
  EXPECT_EQ(child["lineage"], child["run_id"]);
  EXPECT_NE(child["lineage"], parent["lineage"]);
  EXPECT_EQ(child["parent"]["run_id"], parent["run_id"]);
  EXPECT_EQ(child["parent"]["lineage"], parent["lineage"]);
  EXPECT_EQ(child["parent"]["step"], 2);
  EXPECT_EQ(child["parent"]["checkpoint"], ckpt_);
  const Json index =
      Json::parse(parent_.Read(std::string(kStep2).substr(1) + "/index.json"));
  EXPECT_EQ(child["parent"]["ledger_head"], index["ledger_head"]);
  EXPECT_EQ(parent["parent"]["run_id"], "");
  EXPECT_TRUE(
      absl::StrContains(fork.Read("ledger.jsonl"), "\"event\":\"fork\""));
  // The parent is only read, and the fork needs it no more.
  EXPECT_EQ(parent_.Read("ledger.jsonl"), parent_ledger);
  EXPECT_TRUE(fork.Exists("checkpoints/step_00000002/index.json"));
}

TEST_F(ForkTest, ItResumesLikeAnyRunWithoutItsParent) {
  for (const int64_t stop : {3, 5, 6}) {
    const TrainRig fork(absl::StrCat("fork_stop", stop));
    RigOptions first = Fork(ckpt_);
    first.until = stop;
    fork.Unseed(first);
    const Json born = Manifest(fork);
    EXPECT_EQ(fork.Unseed(Options()), unseed_) << stop;
    EXPECT_EQ(fork.Metrics(), After(metrics_, 2)) << stop;
    EXPECT_EQ(Manifest(fork), born);
    EXPECT_EQ(Manifest(fork, "checkpoints/step_00000007/")["lineage"],
              born["lineage"]);
    EXPECT_FALSE(absl::StrContains(fork.Read("ledger.jsonl"), "lines_missing"));
  }
}

TEST_F(ForkTest, OfAForkNamesTheForkAsItsParent) {
  const TrainRig fork("generation1"), grandchild("generation2");
  fork.Unseed(Fork(ckpt_));
  EXPECT_EQ(grandchild.Unseed(Fork(fork.dir() + "/checkpoints/step_00000004")),
            unseed_);
  EXPECT_EQ(grandchild.Metrics(), After(metrics_, 4));
  EXPECT_EQ(Manifest(grandchild)["parent"]["run_id"], Manifest(fork)["run_id"]);
}

TEST_F(ForkTest, OtherRatesAreWhatForksAreForAndAreListed) {
  const TrainRig fork("other_rate");
  RigOptions options = Fork(ckpt_);
  options.sets.push_back("optimizer.lr=0.1");
  EXPECT_NE(fork.Unseed(options), unseed_);
  const std::string ledger = fork.Read("ledger.jsonl");
  EXPECT_TRUE(absl::StrContains(ledger, "optimizer.lr: 0.003 -> 0.1"))
      << ledger;
  EXPECT_EQ(Json::parse(fork.Metrics()[0])["sample_first"],
            Json::parse(metrics_[2])["sample_first"]);
}

// The curve is the parent's, until the fork's recipe says another.
TEST(ForkScheduleTest, TheCurveIsKeptUnlessTheRecipeSaysAnother) {
  const TrainRig parent("long_parent", TrainRig::kAsShipped);
  parent.Unseed({.until = 5});
  const std::string ckpt = parent.dir() + "/checkpoints/step_00000005";
  const TrainRig kept("kept_curve", TrainRig::kAsShipped),
      anew("new_curve", TrainRig::kAsShipped);
  kept.Unseed(
      {.sets = {"optimizer.weight_decay=0.2"}, .until = 6, .fork = ckpt});
  EXPECT_TRUE(absl::StrContains(kept.Read("ledger.jsonl"),
                                "the parent's, 160 samples long"));
  anew.Unseed({.sets = {"train.steps=40"}, .until = 6, .fork = ckpt});
  EXPECT_TRUE(absl::StrContains(anew.Read("ledger.jsonl"),
                                "resolved anew: 160 -> 320 samples"));
  anew.Unseed({.sets = {"train.steps=40"}, .until = 7});
  const Json manifest = Json::parse(anew.Read("manifest.json"));
  EXPECT_EQ(manifest["schedule_length_samples"], 320);
}

}  // namespace
}  // namespace lockstep
