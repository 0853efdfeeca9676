// Two runs with other settings, of those that move no bit.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "tests/bisect/bisected_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// What moves no bit is not what parts two runs, and the operations of both are
// held against each other whatever run b was told.
TEST(BisectSettingsTest,
     MicroBatchesRecomputationAndFingerprintsDoNotHideAFault) {
  const std::string fault =
      "kind=flip,step=3,at=layers.1.mixer.up_proj.backward,element=700,bit=22";
  const TrainRig a("bisect_settings_a");
  a.Unseed(Options());
  for (const char* set : {"batch.micro=4", "train.recompute=true",
                          "metrics.fingerprints=false"}) {
    const TrainRig equal("bisect_settings_equal"), b("bisect_settings_b");
    RigOptions options = Options();
    options.sets.push_back(set);
    equal.Unseed(options);
    EXPECT_EQ(Bisected(a, equal)["verdict"], "equal") << set;
    EXPECT_EQ(Bisected(equal, a)["verdict"], "equal") << set;
    options.faults = {fault};
    b.Unseed(options);
    for (const Json& json : {Bisected(a, b), Bisected(b, a)}) {
      EXPECT_EQ(json["verdict"], "operation") << set << json;
      EXPECT_EQ(json["step"], 3) << set;
      EXPECT_EQ(json["scope"], "layers.1.mixer") << set;
      EXPECT_EQ(json["operation"], "up_proj") << set;
      EXPECT_EQ(json["phase"], "backward") << set;
    }
  }
}

// A fault of one micro-batch is met with run b's micro-batches alone, and one
// in a forward that is done again with its recomputation.
TEST(BisectSettingsTest, WhatIsBoundToAMicroBatchIsNamedWithThem) {
  const TrainRig a("bisect_bound_a");
  RigOptions other = Options();
  other.sets.push_back("batch.micro=4");
  a.Unseed(other);
  const TrainRig b("bisect_bound_b");
  b.Unseed(Options(
      "kind=flip,step=3,micro=3,at=layers.0.mixer.in_proj.forward,element=77,"
      "bit=22"));
  ASSERT_NE(a.Metrics(), b.Metrics());
  for (const Json& json : {Bisected(a, b), Bisected(b, a)}) {
    EXPECT_EQ(json["verdict"], "operation") << json;
    EXPECT_EQ(json["scope"], "layers.0.mixer") << json;
    EXPECT_EQ(json["operation"], "in_proj");
    EXPECT_EQ(json["phase"], "forward");
  }
}

bool Noted(const Json& json, const std::string& text) {
  for (const auto& note : json["notes"]) {
    if (note.get<std::string>().find(text) != std::string::npos) return true;
  }
  return false;
}

// A key that must change bits some day, and did not change this step's, is no
// reason to look no further: a curve that has not bent yet, a rule for spikes
// where there was none, a clip above the norm.
TEST(BisectSettingsTest, AKeyThatMovedNothingDoesNotHideAFault) {
  const std::string fault =
      "kind=flip,step=3,at=layers.1.mixer.up_proj.backward,element=700,bit=22";
  // The curve falls in the last step alone.
  const std::vector<std::string> both = {
      "schedule.shape=wsd_linear", "schedule.warmup=1", "schedule.decay=1",
      "optimizer.clip=1e5"};
  const auto with = [&](const std::vector<std::string>& sets) {
    RigOptions options = Options();
    options.sets.insert(options.sets.end(), both.begin(), both.end());
    options.sets.insert(options.sets.end(), sets.begin(), sets.end());
    return options;
  };
  const TrainRig a("bisect_trial_a");
  a.Unseed(with({}));
  for (const std::string set :
       {"spike.action=note", "schedule.min_lr=1e-4", "optimizer.clip=1e6",
        "grid.tensor=2", "precision.initial_scale=1024"}) {
    for (const std::string fingerprints : {"true", "false"}) {
      const TrainRig b("bisect_trial_b");
      RigOptions options = with({set, "metrics.fingerprints=" + fingerprints});
      options.faults = {fault};
      b.Unseed(options);
      const Json json = Bisected(a, b);
      ASSERT_EQ(json["verdict"], "operation") << set << json;
      EXPECT_EQ(json["step"], 3) << set;
      EXPECT_EQ(json["scope"], "layers.1.mixer") << set;
      EXPECT_EQ(json["operation"], "up_proj") << set;
      ASSERT_FALSE(json["elements"].is_null()) << set << json;
      EXPECT_EQ(json["elements"]["differ"], 1) << set << json;
      EXPECT_TRUE(Noted(json, set.substr(0, set.find('=')))) << json["notes"];
      for (const Json& difference : json["differences"]) {
        EXPECT_EQ(difference["explains"], false) << difference;
      }
    }
  }
}

// debug.toml with its text, of which the last letter is `letter`.
std::string WithLastLetter(char letter) {
  FileSystem& fs = *PosixFileSystem();
  const auto text = fs.ReadFile("/usr/share/common-licenses/GPL-3");
  EXPECT_TRUE(text.ok());
  const std::string name = testing::TempDir() + "/letter_" + letter;
  const std::string changed = text->substr(0, text->size() - 2) + letter + "\n";
  EXPECT_TRUE(WriteFileAtomically(fs, name + ".txt", changed).ok());
  EXPECT_TRUE(
      WriteFileAtomically(
          fs, name + ".toml",
          absl::StrCat("extends = \"", std::filesystem::current_path().string(),
                       "/recipes/debug.toml\"\n[data]\n[[data.source]]\n"
                       "document_bytes = 1024\ntext = \"",
                       name, ".txt\"\n"))
          .ok());
  return name + ".toml";
}

// Other data are not the answer in a step that has read none of it.
TEST(BisectSettingsTest, DataThatWasNotReadYetDoesNotHideAFault) {
  const TrainRig a("bisect_letter_a"), b("bisect_letter_b");
  RigOptions options = Options();
  options.recipe = WithLastLetter('x');
  a.Unseed(options);
  options.recipe = WithLastLetter('y');
  options.faults = {
      "kind=flip,step=2,at=layers.1.mixer.up_proj.backward,element=700,bit=22"};
  b.Unseed(options);
  const Json json = Bisected(a, b);
  ASSERT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["step"], 2);
  EXPECT_EQ(json["operation"], "up_proj");
  EXPECT_TRUE(Noted(json, "data.")) << json["notes"];
}

TEST(BisectSettingsTest, AKeyThatMovedTheStepIsTheAnswerAndProven) {
  const TrainRig a("bisect_moved_a"), b("bisect_moved_b"), c("bisect_moved_c");
  a.Unseed(Options());
  RigOptions options = Options();
  options.sets.push_back("optimizer.weight_decay=0.2");
  b.Unseed(options);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "manifest") << json;
  EXPECT_EQ(json["repeatable"], true);
  EXPECT_LE(json["replays"], 2);
  EXPECT_TRUE(Noted(json, "does what run a does")) << json["notes"];
  // And is not all of it where a fault comes with it.
  options.faults = {
      "kind=flip,step=1,at=layers.1.mixer.up_proj.backward,element=700,bit=22"};
  c.Unseed(options);
  const Json both = Bisected(a, c);
  EXPECT_EQ(both["verdict"], "manifest") << both;
  EXPECT_TRUE(Noted(both, "up_proj")) << both["notes"];
}

// What happened once does not make a suspect of a key that moved nothing.
TEST(BisectSettingsTest, WhatHappenedOnceIsNotBlamedOnAKey) {
  const TrainRig a("bisect_once_a"), b("bisect_once_b");
  a.Unseed(Options());
  RigOptions options = Options(
      "kind=flip,step=3,at=layers.1.mixer.up_proj.backward,element=700,bit=22,"
      "replayed=no");
  for (const char* fingerprints : {"true", "false"}) {
    options.sets = {"checkpoint.every=2", "spike.action=note", "batch.micro=4",
                    std::string("metrics.fingerprints=") + fingerprints};
    b.Unseed(options);
    const Json json = Bisected(a, b);
    EXPECT_EQ(json["verdict"], "operation") << json;
    EXPECT_EQ(json["repeatable"], false) << json;
    EXPECT_EQ(json["sound_memory"], true) << json;
  }
}

}  // namespace
}  // namespace lockstep
