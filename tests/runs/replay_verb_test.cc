// `lockstep replay`: what recurs, what does not, and what that is called.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tests/runs/replay_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

TEST(ReplayVerbTest, ARunOfSeveralRanksRecursOnItsOwnLayout) {
  const TrainRig rig("replay_ranks");
  rig.Unseed(TwoRanks("bitwise"));
  const Replayed same = Replay(rig, {.from = 4, .to = 6});
  EXPECT_EQ(same.json["verdict"], "recurs_to_the_bit") << same.json;
  EXPECT_FALSE(same.negative);
  EXPECT_EQ(same.json["steps"].size(), 3u);
  EXPECT_EQ(same.json["began_at"], 2);
  EXPECT_EQ(same.json["ranks"], 2);
  const Replayed seed = Replay(rig, {.from = 6, .to = 6, .from_seed = true});
  EXPECT_EQ(seed.json["verdict"], "recurs_to_the_bit") << seed.json;
  EXPECT_EQ(seed.json["began_at"], 0);
  // Another layout has other bits on this rung, and the same losses.
  const Replayed one =
      Replay(rig, {.from = 4, .to = 6, .sets = {"parallel.data=1"}});
  EXPECT_EQ(one.json["verdict"], "recurs_in_value") << one.json;
  EXPECT_EQ(one.json["promised"], false);
  EXPECT_FALSE(one.negative);
  EXPECT_GT(one.json["steps"][2]["deviation"], 0.0);
}

TEST(ReplayVerbTest, OnTheTopRungAnyLayoutIsAWitness) {
  const TrainRig rig("replay_invariant");
  rig.Unseed(TwoRanks("layout_invariant"));
  for (const char* set : {"parallel.data=1", "parallel.data=4"}) {
    const Replayed other = Replay(rig, {.from = 3, .to = 5, .sets = {set}});
    EXPECT_EQ(other.json["verdict"], "recurs_to_the_bit") << other.json;
    EXPECT_EQ(other.json["promised"], true);
  }
}

// A window over a change of layout is done on the first; what a rank of the
// second did is not there, and no machine is blamed for that.
TEST(ReplayVerbTest, AWindowOverTwoLayoutsSaysWhereTheSecondBegins) {
  const TrainRig rig("replay_two_layouts");
  RigOptions options = TwoRanks("layout_invariant");
  options.ranks = 1;
  options.sets[1] = "parallel.data=1";
  options.until = 2;
  rig.Unseed(options);
  rig.Unseed(
      TwoRanks("layout_invariant", {"kind=flip,step=4,rank=1,element=5,bit=20,"
                                    "at=layers.0.mixer.in_proj.forward"}));
  const Replayed whole = Replay(rig, {.from = 2, .to = 4});
  EXPECT_NE(whole.json["verdict"], "recurs_to_the_bit") << whole.json;
  EXPECT_NE(whole.json["notes"].dump().find("steps from 3 on were made on "
                                            "another layout (2 rank(s)"),
            std::string::npos)
      << whole.json["notes"];
  EXPECT_EQ(whole.json["other_layout_from"], 3);
  const Replayed second = Replay(rig, {.from = 3, .to = 4});
  EXPECT_EQ(second.json["verdict"], "recurs_to_the_bit") << second.json;
  EXPECT_EQ(second.json["other_layout_from"], 0);
}

// A fault of the program is met again, by the rank that had it; one of the
// machine is not, and then two replays agree against the record.
TEST(ReplayVerbTest, AFaultOfTheMachineDoesNotRecur) {
  const std::string flip =
      "kind=flip,step=4,rank=1,element=5,bit=30,"
      "at=layers.0.mixer.in_proj.forward";
  const TrainRig program("replay_program");
  program.Unseed(TwoRanks("bitwise", {flip}));
  const Replayed again = Replay(program, {.from = 4, .to = 5});
  EXPECT_EQ(again.json["verdict"], "recurs_to_the_bit");
  EXPECT_NE(
      again.json["notes"].dump().find("so is the replay: --fault " + flip),
      std::string::npos)
      << again.json["notes"];
  const TrainRig machine("replay_machine");
  machine.Unseed(TwoRanks("bitwise", {flip + ",replayed=no"}));
  EXPECT_EQ(machine.Metrics(), program.Metrics());
  const Replayed no = Replay(machine, {.from = 4, .to = 5});
  EXPECT_EQ(no.json["verdict"], "does_not_recur") << no.json;
  EXPECT_TRUE(no.negative);
  EXPECT_EQ(no.json["repeatable"], true);
  EXPECT_NE(no.json["notes"].dump().find("the replay is not: --fault " + flip),
            std::string::npos)
      << no.json["notes"];
  EXPECT_EQ(no.json["steps"][0]["recurs"], false);
  const std::vector<std::string> fields = no.json["steps"][0]["differences"];
  EXPECT_NE(std::find(fields.begin(), fields.end(), "fingerprint.grads"),
            fields.end());
  EXPECT_EQ(Replay(machine, {.from = 3, .to = 3}).json["verdict"],
            "recurs_to_the_bit");
}

TEST(ReplayVerbTest, ARemedyIsReplayedAndNothingIsWritten) {
  const TrainRig rig("replay_remedy");
  rig.Unseed(TwoRanks("bitwise"));
  const auto before = rig.List("");
  const Replayed skipped =
      Replay(rig, {.from = 3, .to = 4, .skip_samples = {"17-18"}});
  EXPECT_EQ(skipped.json["promised"], false);
  EXPECT_NE(skipped.json["verdict"], "recurs_to_the_bit") << skipped.json;
  EXPECT_TRUE(skipped.json["repeatable"].is_null());
  const Replayed slower =
      Replay(rig, {.from = 3, .to = 4, .sets = {"optimizer.lr=1e-9"}});
  EXPECT_EQ(slower.json["promised"], false);
  EXPECT_NE(slower.json["verdict"], "recurs_to_the_bit");
  EXPECT_EQ(rig.List(""), before);
}

TEST(ReplayVerbTest, TracesEveryRankToANewFolder) {
  const TrainRig rig("replay_trace");
  rig.Unseed(TwoRanks("bitwise"));
  const std::string folder = rig.dir() + "_traces";
  std::string scope = "layers.0.mixer";
  Replay(rig, {.from = 5, .to = 6, .trace = folder, .trace_scope = scope});
  for (const int rank : {0, 1}) {
    const auto trace =
        ReadTrace(*PosixFileSystem(),
                  absl::StrCat(folder, "/rank_", rank, ".step_00000004.trace"));
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    EXPECT_GT(trace->records.size(), 20u);
    EXPECT_EQ(trace->records.front().step(), 5);
    EXPECT_EQ(trace->records.back().step(), 6);
  }
  ReplayVerbOptions again = {.run_dir = rig.dir(), .from = 5, .to = 6};
  again.trace = folder;
  EXPECT_EQ(ExitCodeFor(ReplayVerb(again).status()), 2);
}

TEST(ReplayVerbTest, WhatCannotBeReplayedIsRefused) {
  const TrainRig rig("replay_refused");
  rig.Unseed(TwoRanks("bitwise"));
  const ReplayVerbOptions bad[] = {
      {.from = 5, .to = 4},
      {.from = 5, .to = 7},
      {.from = 0, .to = 2},
      {.from = 3, .to = 4, .sets = {"parallel.tensor=3"}},
      {.from = 3, .to = 4, .sets = {"no.key=1"}},
      {.from = 3, .to = 4, .skip_samples = {"9-3"}},
  };
  for (ReplayVerbOptions options : bad) {
    options.run_dir = rig.dir();
    EXPECT_EQ(ExitCodeFor(ReplayVerb(options).status()), 2)
        << options.from << " " << options.to;
  }
  EXPECT_EQ(
      ExitCodeFor(
          ReplayVerb({.run_dir = "nowhere", .from = 1, .to = 1}).status()),
      2);
}

}  // namespace
}  // namespace lockstep
