// Verdicts of what no operation announces: a write behind a trace's back, a
// step that was skipped for it, an update that the trace does not show, and
// what happened once in both runs. Each is planted in a whole run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Both with dropout and a checkpoint after each second step.
Json BisectedWith(const Words& in_a, const Words& in_b, const Words& sets = {},
                  int64_t ranks = 1) {
  const TrainRig a("unannounced_a"), b("unannounced_b");
  RigOptions options = {.sets = sets, .threads = 1, .ranks = ranks};
  options.sets.push_back("checkpoint.every=2");
  options.sets.push_back("model.hidden_dropout=0.1");
  options.faults = in_a;
  a.Unseed(options);
  options.faults = in_b;
  b.Unseed(options);
  EXPECT_NE(a.Metrics(), b.Metrics()) << in_b[0] << " changes nothing";
  const auto result =
      Bisect(*PosixFileSystem(), {.a = a.dir(), .b = b.dir(), .threads = 1});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? Json::parse(BisectJson(*result)) : Json();
}

void ExpectCause(const Json& json, const std::string& words) {
  ASSERT_FALSE(json["causes"].empty()) << json;
  EXPECT_NE(json["causes"][0].dump().find(words), std::string::npos)
      << json["causes"][0];
}

struct Write {
  std::string at;                               // whose output was written to
  std::string scope, operation, phase, tensor;  // who was given it
  Words sets = {};
  int64_t ranks = 1;
};

// Of an activation, of a gradient on its way back; on ranks that hold parts,
// too.
TEST(UnannouncedWriteTest, IsFoundBetweenTheTwoThatItLiesBetween) {
  const std::vector<Write> writes = {
      {"layers.1.mixer.up_proj.forward", "layers.1.mixer", "squared_relu",
       "forward", "x"},
      {"layers.3.mixer.attention.backward", "layers.3.mixer", "qkv_proj",
       "backward", "dy"},
      {"layers.3.norm.forward", "layers.3.mixer", "qkv_proj", "forward", "x"},
      {"layers.1.mixer.up_proj.forward",
       "layers.1.mixer",
       "squared_relu",
       "forward",
       "x",
       {"parallel.tensor=2", "guarantee=layout_invariant"},
       2}};
  for (const Write& w : writes) {
    const Json json =
        BisectedWith({}, {"kind=spike,factor=1.5,late=yes,step=4,at=" + w.at},
                     w.sets, w.ranks);
    EXPECT_EQ(json["verdict"], "changed_between") << w.at << ": " << json;
    EXPECT_EQ(json["step"], 4) << w.at;
    EXPECT_EQ(json["scope"], w.scope) << w.at;
    EXPECT_EQ(json["operation"], w.operation) << w.at;
    EXPECT_EQ(json["phase"], w.phase) << w.at;
    EXPECT_EQ(json["tensor"], w.tensor) << w.at;
    EXPECT_NE(json["producer"].dump().find(w.at.substr(0, w.at.rfind('.'))),
              std::string::npos)
        << json["producer"];
    EXPECT_EQ(json["repeatable"], true) << w.at;
    EXPECT_EQ(json["sound_memory"], true) << w.at;
    ExpectCause(json, "a write into memory that another operation owns");
  }
}

// The convolution is given a part of what the projection left, and a part is no
// tensor that a trace has.
TEST(UnannouncedWriteTest, OfATensorThatIsReadInPartsIsReceived) {
  const Json json =
      BisectedWith({},
                   {"kind=flip,late=yes,step=4,element=200,bit=9,rank=1,"
                    "at=layers.0.mixer.in_proj.forward"},
                   {"parallel.data=2", "precision.mode=bf16"}, 2);
  EXPECT_EQ(json["verdict"], "received") << json;
  EXPECT_EQ(json["step"], 4);
  EXPECT_EQ(json["ranks"], Json::parse("[1]"));
  EXPECT_EQ(json["scope"], "layers.0.mixer");
  EXPECT_EQ(json["operation"], "conv1d");
  EXPECT_EQ(json["tensor"], "x");
  EXPECT_EQ(json["repeatable"], true);
  ExpectCause(json, "what came first was not captured");
}

// Of a final gradient: the norm, which comes next, announces no inputs.
TEST(UnannouncedWriteTest, BeforeAnOperationWithoutInputsItIsThatOnes) {
  const Json json = BisectedWith(
      {}, {"kind=flip,late=yes,step=4,element=70,bit=22,"
           "at=backbone.layers.0.mixer.out_proj.weight.gradient.reduction"});
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["scope"], "gradients");
  EXPECT_EQ(json["operation"], "norm");
  EXPECT_NE(json["certainty"].dump().find("what runs unannounced between"),
            std::string::npos)
      << json["certainty"];
}

// The same tensor, damaged before anyone sees it: the canary of `late`.
TEST(UnannouncedWriteTest, AnAnnouncedOneIsTheOperations) {
  const Json json = BisectedWith({}, {"kind=spike,factor=1.5,step=4,"
                                      "at=layers.1.mixer.up_proj.forward"});
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["operation"], "up_proj");
}

// The norm was announced as it is, and decides as a spike: nothing but the flow
// of the step differs.
TEST(ControlFlowTest, AStepThatOneRunSkippedIsNamed) {
  const Json json = BisectedWith(
      {}, {"kind=spike,factor=1000,late=yes,step=6,at=gradients.norm.clip"},
      {"spike.action=skip", "spike.window=8", "spike.warmup=4"});
  EXPECT_EQ(json["verdict"], "control_flow") << json;
  EXPECT_EQ(json["step"], 6);
  EXPECT_EQ(json["operation"], "adamw");
  EXPECT_EQ(json["phase"], "optimizer");
  EXPECT_EQ(json["only_in"], "a");
  EXPECT_EQ(json["repeatable"], true);
  ExpectCause(json, "one run skipped the step's update");
}

// Behind the last operation of the step: no trace has it.
TEST(NotReproducedTest, AWriteBehindTheLastOperationIsInNoTrace) {
  const Json json = BisectedWith(
      {}, {"kind=flip,late=yes,step=4,element=5,bit=12,"
           "at=backbone.layers.1.mixer.up_proj.weight.adamw.optimizer"});
  EXPECT_EQ(json["verdict"], "not_reproduced") << json;
  EXPECT_EQ(json["step"], 4);
  EXPECT_TRUE(json["operation"].is_null()) << json;
  EXPECT_EQ(json["repeatable"], true);
  EXPECT_NE(
      json["notes"].dump().find("outside of the operations that are traced"),
      std::string::npos)
      << json["notes"];
  EXPECT_NE(json["notes"].dump().find(
                "parameters/backbone.layers.1.mixer.up_proj.weight.master, "
                "rank 0, differs"),
            std::string::npos)
      << json["notes"];
  ExpectCause(json, "a write behind the last operation of the step");
}

// A fault of each machine: neither record comes back.
TEST(NotReproducedTest, WhatHappenedOnceInBothIsSaidToBeSo) {
  const auto once = [](int element) {
    return Words{absl::StrCat("kind=flip,replayed=no,step=5,bit=22,element=",
                              element, ",at=layers.1.mixer.up_proj.forward")};
  };
  const Json json = BisectedWith(once(70), once(71));
  EXPECT_EQ(json["verdict"], "not_reproduced") << json;
  EXPECT_EQ(json["step"], 5);
  EXPECT_TRUE(json["operation"].is_null()) << json;
  EXPECT_TRUE(json["odd_one"].is_null()) << json;
  EXPECT_NE(json["notes"].dump().find("neither run recurs"), std::string::npos)
      << json["notes"];
  ExpectCause(json, "something outside of the steps");
}

}  // namespace
}  // namespace lockstep
