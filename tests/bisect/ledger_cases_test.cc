// What a run was told in its midst, and what it saved: neither is an
// operation's, and bisect says so.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tests/bisect/bisected_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

Json Difference(const Json& json, const std::string& key) {
  for (const Json& difference : json["differences"]) {
    if (difference["key"] == key) return difference;
  }
  return {};
}

// Steps of 8 samples: the range acts in step 5.
TEST(BisectLedgerTest, SamplesThatALaunchPassesOverAreTheAnswer) {
  const TrainRig a("skips_a"), b("skips_b");
  a.Unseed(Options());
  RigOptions half = Options();
  half.until = 4;
  b.Unseed(half);
  RigOptions rest = Options();
  rest.skip_samples = {"34-36"};
  b.Unseed(rest);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "manifest") << json;
  EXPECT_EQ(json["step"], 5);
  EXPECT_EQ(json["replays"], 0);
  EXPECT_EQ(Difference(json, "skip_list")["explains"], true) << json;
  EXPECT_NE(json["cause"].get<std::string>().find("told to pass over"),
            std::string::npos)
      << json["cause"];
}

// Adopted, and not yet met where the runs part: it is told and not blamed. So
// is a fork, which goes on with its parent's bits.
TEST(BisectLedgerTest, WhatExplainsNothingIsToldAll) {
  const TrainRig a("told_a"), b("told_b"), fork("told_fork");
  a.Unseed(Options());
  RigOptions half = Options();
  half.until = 2;
  b.Unseed(half);
  RigOptions rest =
      Options("kind=flip,bit=22,step=3,element=7,at=layers.0.norm.forward");
  rest.skip_samples = {"44-46"};
  b.Unseed(rest);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["step"], 3);
  EXPECT_EQ(json["operation"], "norm") << json;
  EXPECT_EQ(Difference(json, "skip_list")["explains"], false) << json;
  RigOptions forked =
      Options("kind=flip,bit=22,step=4,element=7,at=layers.0.norm.forward");
  forked.fork = a.dir() + "/checkpoints/step_00000002";
  fork.Unseed(forked);
  const Json other = Bisected(a, fork);
  EXPECT_EQ(other["verdict"], "operation") << other;
  EXPECT_EQ(other["step"], 4);
  EXPECT_EQ(Difference(other, "fork")["explains"], false) << other;
}

// The list alone differs: it is state, and nothing else is to blame.
// A fork of a run that had gone wrong before: no step of the fork is to blame.
TEST(BisectLedgerTest, AForkOfAnotherStateIsToldByWhatItGrewFrom) {
  const TrainRig a("grown_a"), parent("grown_parent"), fork("grown_fork");
  a.Unseed(Options());
  parent.Unseed(Options(
      "kind=flip,step=1,at=layers.0.mixer.in_proj.forward,element=5,bit=22"));
  RigOptions forked = Options();
  forked.fork = parent.dir() + "/checkpoints/step_00000002";
  fork.Unseed(forked);
  const Json json = Bisected(a, fork);
  EXPECT_EQ(json["verdict"], "saved_state") << json;
  EXPECT_EQ(json["step"], 2);
  EXPECT_EQ(json["replays"], 0);
  EXPECT_GT(json["state"]["entries"], 0) << json;
  EXPECT_EQ(json["grew_apart"], true);
  EXPECT_NE(json["certainty"].dump().find("goes on from states that differ"),
            std::string::npos)
      << json["certainty"];
  EXPECT_NE(json["notes"].dump().find("run b grew from step 2 of run"),
            std::string::npos)
      << json["notes"];
  EXPECT_NE(json["cause"].get<std::string>().find("forked from"),
            std::string::npos)
      << json["cause"];
}

TEST(BisectLedgerTest, ASkipListThatIsNotYetMetIsAnAnswer) {
  const TrainRig a("early_a"), b("early_b");
  a.Unseed(Options());
  RigOptions half = Options();
  half.until = 2;
  b.Unseed(half);
  RigOptions rest = Options();
  rest.skip_samples = {"44-46"};
  b.Unseed(rest);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "manifest") << json;
  EXPECT_EQ(json["step"], 3);
  EXPECT_EQ(Difference(json, "skip_list")["explains"], true) << json;
}

// Memory that changed while it was saved: each step of the run is sound, and
// the one behind the save goes on from what was saved.
class BisectSavedTest
    : public testing::TestWithParam<std::tuple<const char*, int64_t>> {};

TEST_P(BisectSavedTest, ASaveThatChangesTheStateIsNamed) {
  const auto& [entry, ranks] = GetParam();
  const std::string parameter = "backbone.layers.1.mixer.up_proj.weight";
  const TrainRig a("saves_a"), b("saves_b");
  RigOptions options = Options();
  options.ranks = ranks;
  a.Unseed(options);
  options.faults = {"kind=flip,step=4,bit=20,element=5,at=" + parameter +
                    entry + ".save"};
  b.Unseed(options);
  ASSERT_NE(a.Metrics(), b.Metrics());
  for (const bool swapped : {false, true}) {
    const Json json = swapped ? Bisected(b, a) : Bisected(a, b);
    EXPECT_EQ(json["verdict"], "saved_state") << json;
    EXPECT_EQ(json["step"], 4);
    EXPECT_EQ(json["odd_one"], swapped ? "a" : "b");
    EXPECT_EQ(json["repeatable"], false);
    EXPECT_EQ(json["phase"], "save");
    EXPECT_NE(json["tensor"].get<std::string>().find(parameter),
              std::string::npos)
        << json;
    EXPECT_EQ(json["state"]["entries"], 1) << json["state"];
    EXPECT_LE(json["replays"], 2);
  }
}

INSTANTIATE_TEST_SUITE_P(EntriesAndReplicas, BisectSavedTest,
                         testing::Combine(testing::Values(".master", ".v"),
                                          testing::Values(1, 2)));

struct Case {
  std::string fault, cause;
  int64_t ranks = 1;
  std::vector<std::string> sets = {};
  int64_t tokens_of = -1;
};

// What the table thinks of a difference, where the fault is known.
TEST(BisectCauseTest, TheFirstRowFitsTheFault) {
  const std::vector<Case> cases = {
      {"kind=skip_sample,step=4,sample=25", "slipped", 1, {}, 26},
      {"kind=skip_sample,step=4,sample=31,when=from", "slipped", 1, {}, 32},
      {"kind=order,step=3,at=layers.0.mixer.in_proj.forward",
       "another order of a sum"},
      {"kind=drop_collective,step=3,at=gradients.reduce_scatter",
       "a rank left out",
       2,
       {"parallel.data=2"}},
      {"kind=drop_collective,step=3,at=weights.all_gather",
       "a rank left out",
       2,
       {"parallel.data=2"}}};
  for (const Case& c : cases) {
    const TrainRig a("cause_a"), b("cause_b");
    RigOptions options = Options();
    options.ranks = c.ranks;
    options.sets.insert(options.sets.end(), c.sets.begin(), c.sets.end());
    options.until = 5;
    a.Unseed(options);
    options.faults = {c.fault};
    b.Unseed(options);
    const Json json = Bisected(a, b);
    EXPECT_NE(json["cause"].get<std::string>().find(c.cause), std::string::npos)
        << c.fault << ": " << json;
    EXPECT_EQ(json["tokens_of"], c.tokens_of < 0 ? Json() : Json(c.tokens_of))
        << c.fault;
  }
}

}  // namespace
}  // namespace lockstep
