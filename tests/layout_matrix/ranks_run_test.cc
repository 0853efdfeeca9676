// `train --ranks N` as a user runs it: one folder, whatever the layout.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Ranks(int64_t ranks, const std::string& guarantee,
                 const std::vector<std::string>& more = {}) {
  RigOptions options;
  options.recipe = SmallRecipe("ranks_run", 60);
  options.ranks = ranks;
  options.threads = 1;
  options.sets = {"guarantee=" + guarantee, "eval.every=2",
                  "model.hidden_dropout=0.1"};
  options.sets.insert(options.sets.end(), more.begin(), more.end());
  return options;
}

TEST(RanksRunTest, N5EveryLayoutWritesTheSameRun) {
  const TrainRig one = SmallRig("ranks_one");
  const std::string unseed = one.Unseed(Ranks(1, "layout_invariant"));
  for (const std::string set : {"parallel.data=2", "parallel.pipeline=2"}) {
    const TrainRig two = SmallRig("ranks_two");
    EXPECT_EQ(two.Unseed(Ranks(2, "layout_invariant", {set})), unseed) << set;
    EXPECT_TRUE(SameLines(two.Metrics(), one.Metrics())) << set;
    EXPECT_EQ(two.Read("eval.jsonl"), one.Read("eval.jsonl")) << set;
  }
}

// A checkpoint of four ranks is one state: it loads on one, and the other way
// round.
TEST(RanksRunTest, ARunGoesOnOnAnotherLayout) {
  const TrainRig unbroken = SmallRig("ranks_unbroken");
  const std::string unseed = unbroken.Unseed(Ranks(1, "layout_invariant"));
  const std::vector<std::string> four = {"parallel.data=2",
                                         "parallel.pipeline=2"};
  for (const bool up : {true, false}) {
    const TrainRig rig = SmallRig(absl::StrCat("ranks_moved", up));
    RigOptions first =
        up ? Ranks(1, "layout_invariant") : Ranks(4, "layout_invariant", four);
    first.until = 3;
    rig.Unseed(first);
    const RigOptions then =
        up ? Ranks(4, "layout_invariant", four) : Ranks(1, "layout_invariant");
    EXPECT_EQ(rig.Unseed(then), unseed) << up;
    EXPECT_TRUE(SameLines(rig.Metrics(), unbroken.Metrics())) << up;
  }
}

TEST(RanksRunTest, BitwiseHoldsItsLayoutAndNoOther) {
  const TrainRig unbroken = SmallRig("ranks_bitwise");
  const std::string unseed = unbroken.Unseed(Ranks(2, "bitwise"));
  const TrainRig rig = SmallRig("ranks_bitwise_stopped");
  RigOptions stopped = Ranks(2, "bitwise");
  stopped.until = 3;
  rig.Unseed(stopped);
  const RigResult other = rig.Train(Ranks(1, "bitwise"));
  EXPECT_EQ(ExitCodeFor(other.status), 3) << other.status.message();
  EXPECT_EQ(rig.Unseed(Ranks(2, "bitwise")), unseed);
  EXPECT_TRUE(SameLines(rig.Metrics(), unbroken.Metrics()));
  // Canary: the rung does not hide the layout.
  const TrainRig one = SmallRig("ranks_bitwise_one");
  EXPECT_NE(one.Unseed(Ranks(1, "bitwise")), unseed);
}

TEST(RanksRunTest, WhatOneRankMeetsEndsAll) {
  RigOptions options = Ranks(2, "layout_invariant");
  const TrainRig nan = SmallRig("ranks_nan");
  options.faults = {
      "kind=nan,step=3,rank=1,at=layers.1.mixer.up_proj.forward,element=7"};
  const RigResult numeric = nan.Train(options);
  EXPECT_EQ(ExitCodeFor(numeric.status), 5) << numeric.status.message();
  EXPECT_EQ(nan.Metrics().size(), 2u);
  const TrainRig raised = SmallRig("ranks_raised");
  options.faults = {"kind=raise,step=3,rank=1"};
  const RigResult internal = raised.Train(options);
  EXPECT_EQ(ExitCodeFor(internal.status), 7) << internal.status.message();
  EXPECT_EQ(raised.Metrics().size(), 2u);
}

// A test of one rank's own loss made ranks skip different batches
// (facebookresearch/metaseq#521, metaseq#542, NVIDIA-NeMo/Speech#637). Here one
// rank's loss leaps and none of the others sees it: all skip the step.
TEST(RanksRunTest, ASpikeOfOneRankIsOneDecisionOfAll) {
  RigOptions options = Ranks(2, "layout_invariant",
                             {"spike.action=skip", "spike.window=8",
                              "spike.warmup=4", "checkpoint.every=1"});
  options.steps = 12;
  options.faults = {
      "kind=spike,step=7,rank=1,at=lm_head.loss.forward,occurrence=all"};
  const TrainRig rig = SmallRig("ranks_spike");
  rig.Unseed(options);
  const std::vector<Json> lines = Lines(rig);
  ASSERT_EQ(lines.size(), 12u);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["skipped"], i == 6) << i;
    EXPECT_EQ(lines[i]["samples_seen"], 4 * (i + 1)) << i;
  }
  // Of all that is saved the counters alone have moved: no parameter, moment,
  // loss scale or grid.
  int64_t compared = 0;
  const auto before = EntriesOf(rig, 6), skipped = EntriesOf(rig, 7);
  for (const auto& [name, entry] : before) {
    if (name.starts_with("run/") || name.starts_with("spike/")) continue;
    EXPECT_EQ(Json::parse(skipped.at(name))["fingerprint"],
              Json::parse(entry)["fingerprint"])
        << name;
    ++compared;
  }
  EXPECT_GT(compared, 100);
  EXPECT_EQ(lines[6]["updates"], lines[5]["updates"]);  // Adam's t
  EXPECT_EQ(lines[7]["updates"], lines[6]["updates"].get<int64_t>() + 1);
}

TEST(RanksRunTest, AnImpossibleLayoutIsRefusedBeforeAnyWork) {
  const TrainRig rig = SmallRig("ranks_refused");
  for (const auto& [ranks, set] :
       {std::pair{3, "parallel.pipeline=2"}, std::pair{3, "seed=1"},
        std::pair{2, "parallel.data=1"}, std::pair{8, "parallel.pipeline=8"},
        std::pair{1, "parallel.interleave=2"}}) {
    const RigResult result = rig.Train(Ranks(ranks, "layout_invariant", {set}));
    EXPECT_EQ(ExitCodeFor(result.status), 2) << ranks << " " << set;
    EXPECT_FALSE(rig.Exists("ledger.jsonl")) << ranks << " " << set;
  }
}

}  // namespace
}  // namespace lockstep
