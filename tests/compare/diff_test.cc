// `lockstep diff` on whole runs: equal ones, and each way to part.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"
#include "tools/diff/diff_verb.h"
#include "tools/diff/run_diff.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

RigOptions Six(Names sets = {}) {
  RigOptions options;
  options.sets = {"checkpoint.every=2"};
  options.sets.insert(options.sets.end(), sets.begin(), sets.end());
  return options;
}

Json Diff(const TrainRig& a, const TrainRig& b) {
  const auto answer = DiffVerb({a.dir(), b.dir(), true});
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  if (!answer.ok()) return Json();
  const Json json = Json::parse(answer->text);
  EXPECT_EQ(answer->negative, json["verdict"] == "differs");
  const auto text = DiffVerb({a.dir(), b.dir(), false});
  EXPECT_TRUE(text.ok() && absl::StartsWith(text->text, json["verdict"]));
  return json;
}

// The entry of the manifests' differences, or null.
Json Of(const Json& diff, const std::string& key) {
  for (const Json& entry : diff["manifest"]) {
    if (entry["key"] == key) return entry;
  }
  return nullptr;
}

class DiffTest : public testing::Test {
 protected:
  void SetUp() override { base_.Unseed(Six()); }
  TrainRig base_{"diff_base"};
  TrainRig other_{"diff_other"};
};

TEST_F(DiffTest, EqualRunsAreEqualHoweverTheyWereWatched) {
  RigOptions options = Six({"trace.level=phase", "batch.micro=1"});
  options.threads = 1;
  options.until = 3;
  other_.Unseed(options);
  options.until = std::nullopt;
  other_.Unseed(options);
  const Json diff = Diff(base_, other_);
  EXPECT_EQ(diff["verdict"], "equal") << diff;
  EXPECT_TRUE(diff["step"].is_null());
  EXPECT_EQ(diff["steps_compared"], 6);
  EXPECT_EQ(Of(diff, "layout.threads")["explains"], false);
  EXPECT_EQ(diff["last_equal_checkpoint"]["step"], 6);
  EXPECT_TRUE(diff["first_different_checkpoint"].is_null());
}

TEST_F(DiffTest, AnotherRateIsInTheManifestAndInTheUpdate) {
  other_.Unseed(Six({"optimizer.lr=1e-3"}));
  const Json diff = Diff(base_, other_);
  EXPECT_EQ(diff["step"], 1);
  EXPECT_EQ(Of(diff, "optimizer.lr")["explains"], true) << diff;
  EXPECT_TRUE(absl::StrContains(diff["reading"].get<std::string>(), "rate"));
  EXPECT_TRUE(diff["last_equal_checkpoint"].is_null());
  EXPECT_EQ(diff["first_different_checkpoint"]["step"], 2);
}

TEST_F(DiffTest, AnotherSeedBeginsElsewhere) {
  other_.Unseed(Six({"seed=2"}));
  const Json diff = Diff(base_, other_);
  EXPECT_EQ(diff["step"], 1);
  EXPECT_EQ(Of(diff, "seed")["explains"], true);
  EXPECT_NE(diff["a"]["start_state"], diff["b"]["start_state"]);
  EXPECT_TRUE(absl::StrContains(diff["reading"].get<std::string>(),
                                "before the first step"));
}

// One bit in step 5: what is read off is where in the step it came in.
TEST_F(DiffTest, EachPartOfAStepIsToldFromTheFieldsThatDiffer) {
  struct Case {
    std::string fault, reading;
  };
  const Case cases[] = {
      {"kind=flip,step=5,at=layers.0.mixer.in_proj.forward,element=3,bit=20",
       "forward"},
      {"kind=flip,step=5,at=layers.0.mixer.in_proj.backward,element=3,bit=20",
       "backward"},
      {"kind=skip_sample,step=5,sample=34", "other data"},
  };
  for (const Case& c : cases) {
    const TrainRig broken("diff_broken");
    RigOptions options = Six();
    options.faults = {c.fault};
    broken.Unseed(options);
    const Json diff = Diff(base_, broken);
    EXPECT_EQ(diff["step"], 5) << c.fault;
    EXPECT_TRUE(
        absl::StrContains(diff["reading"].get<std::string>(), c.reading))
        << c.fault << ": " << diff["fields"];
    EXPECT_EQ(diff["last_equal_checkpoint"]["step"], 4);
    EXPECT_EQ(diff["first_different_checkpoint"]["step"], 6);
  }
}

TEST_F(DiffTest, SkippedSamplesAndForksAreTold) {
  RigOptions options = Six();
  options.skip_samples = {"20-23"};
  other_.Unseed(options);
  const Json diff = Diff(base_, other_);
  // The list is state from its adoption on, before it changes any data.
  EXPECT_EQ(diff["step"], 1);
  EXPECT_EQ(diff["fields"], Json{"fingerprint.state"});
  EXPECT_EQ(diff["only_in_b"][0]["event"], "skip_list") << diff;
  EXPECT_TRUE(
      absl::StrContains(diff["reading"].get<std::string>(), "skip list"));
  // A fork that changes nothing is equal from its first step on.
  const TrainRig fork("diff_fork");
  options = Six();
  options.fork = base_.dir() + "/checkpoints/step_00000004";
  fork.Unseed(options);
  const Json forked = Diff(base_, fork);
  EXPECT_EQ(forked["verdict"], "equal") << forked;
  EXPECT_EQ(forked["steps_compared"], 2);
  EXPECT_EQ(forked["only_in_b"][0]["event"], "fork");
}

TEST_F(DiffTest, AForkOfAnotherStateIsToldFromAnotherStep) {
  const TrainRig parent("diff_parent"), fork("diff_grown");
  RigOptions options = Six();
  options.faults = {
      "kind=flip,step=1,at=layers.0.mixer.in_proj.forward,element=5,bit=22"};
  parent.Unseed(options);
  options = Six();
  options.fork = parent.dir() + "/checkpoints/step_00000004";
  fork.Unseed(options);
  const Json json = Diff(base_, fork);
  EXPECT_EQ(json["verdict"], "differs") << json;
  EXPECT_NE(json["reading"].get<std::string>().find("the states of step 4"),
            std::string::npos)
      << json["reading"];
}

TEST_F(DiffTest, ARunThatStoppedEarlierIsNotEqual) {
  RigOptions options = Six();
  options.until = 4;
  other_.Unseed(options);
  const Json diff = Diff(base_, other_);
  EXPECT_EQ(diff["verdict"], "differs");
  EXPECT_TRUE(diff["step"].is_null());
  EXPECT_TRUE(absl::StrContains(diff["reading"].get<std::string>(),
                                "as far as both go, to step 4"));
}

// Without fingerprints a bit may show in no line; the checkpoints have it.
TEST_F(DiffTest, WhatShowsInNoLineShowsInTheCheckpoints) {
  other_.Unseed(Six());
  const std::string index = "checkpoints/step_00000006/index.json";
  other_.Write(index, other_.Read("checkpoints/step_00000004/index.json"));
  const Json diff = Diff(base_, other_);
  EXPECT_EQ(diff["verdict"], "differs");
  EXPECT_TRUE(diff["step"].is_null());
  EXPECT_EQ(diff["first_different_checkpoint"]["step"], 6);
  EXPECT_EQ(diff["last_equal_checkpoint"]["step"], 4);
}

TEST_F(DiffTest, ItOnlyReadsAndRefusesWhatIsNoRun) {
  const auto none = DiffVerb({base_.dir(), testing::TempDir(), true});
  EXPECT_EQ(ExitCodeFor(none.status()), 2);
  other_.Unseed(Six());
  const auto before = std::filesystem::last_write_time(base_.dir());
  Diff(base_, other_);
  EXPECT_EQ(std::filesystem::last_write_time(base_.dir()), before);
}

TEST(DiffReadingTest, TheEarliestPartOfAStepIsNamed) {
  EXPECT_TRUE(absl::StrContains(
      ReadingOf({"fingerprint.grads", "fingerprint.params"}), "backward"));
  EXPECT_TRUE(
      absl::StrContains(ReadingOf({"fingerprint.params"}), "the update"));
  EXPECT_TRUE(absl::StrContains(ReadingOf({"fingerprint.rng"}), "streams"));
  EXPECT_TRUE(absl::StrContains(ReadingOf({"fingerprint.state"}), "cursor"));
  EXPECT_TRUE(absl::StrContains(ReadingOf({"spike"}), "describe"));
}

}  // namespace
}  // namespace lockstep
