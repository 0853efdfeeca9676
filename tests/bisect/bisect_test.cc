// Faults that are planted in one of two runs, and a bisect that sees folders
// and replays: it names step, rank, operation and tensor.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/bisect/bisected_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

struct Layout {
  int64_t ranks = 1;
  std::vector<std::string> sets = {};
};

RigOptions On(const Layout& layout, const std::string& fault = "") {
  RigOptions options = {
      .sets = layout.sets, .threads = 1, .ranks = layout.ranks};
  options.sets.push_back("checkpoint.every=2");
  if (!fault.empty()) options.faults = {fault};
  return options;
}

struct Planted {
  std::string spec;  // of the fault, without kind and step
  std::string scope, operation, phase, tensor;
};

void ExpectNamed(const Json& json, int64_t step, const Planted& planted,
                 const std::string& about) {
  EXPECT_EQ(json["verdict"], "operation") << about << ": " << json;
  EXPECT_EQ(json["step"], step) << about << ": " << json;
  EXPECT_EQ(json["scope"], planted.scope) << about;
  EXPECT_EQ(json["operation"], planted.operation) << about;
  EXPECT_EQ(json["phase"], planted.phase) << about;
  EXPECT_EQ(json["tensor"], planted.tensor) << about;
  EXPECT_EQ(json["repeatable"], true) << about;
  EXPECT_LE(json["replays"], 2) << about;
}

std::vector<Planted> Places() {
  return {
      {"at=embeddings.lookup.forward,element=77", "embeddings", "lookup",
       "forward", "x"},
      {"at=layers.0.mixer.conv1d.forward,element=300", "layers.0.mixer",
       "conv1d", "forward", "y"},
      {"at=layers.0.mixer.ssd_scan.backward,element=9", "layers.0.mixer",
       "ssd_scan", "backward", "dxbc"},
      {"at=layers.1.mixer.down_proj.forward,element=31", "layers.1.mixer",
       "down_proj", "forward", "y"},
      {"at=layers.3.mixer.attention.forward,element=100", "layers.3.mixer",
       "attention", "forward", "o"},
      {"at=layers.3.mixer.qkv_proj.backward,element=55", "layers.3.mixer",
       "qkv_proj", "backward", "dx"},
      {"at=lm_head.logits.forward,element=500", "lm_head", "logits", "forward",
       "logits"},
      {"at=backbone.layers.0.mixer.out_proj.weight.gradient,element=40",
       "backbone.layers.0.mixer.out_proj.weight", "gradient", "reduction",
       "grad"},
  };
}

class BisectTest : public testing::TestWithParam<int> {};

TEST_P(BisectTest, NamesWhatWasPlanted) {
  const std::vector<Layout> layouts = {
      {1, {}},
      {2, {"parallel.data=2", "guarantee=bitwise"}},
      {2, {"parallel.tensor=2", "guarantee=layout_invariant"}},
      {2, {"parallel.pipeline=2", "guarantee=layout_invariant"}}};
  const Layout& layout = layouts[static_cast<size_t>(GetParam())];
  const TrainRig clean(absl::StrCat("bisect_clean_", GetParam()));
  clean.Unseed(On(layout));
  int64_t step = 2;
  for (const Planted& planted : Places()) {
    const std::string fault =
        absl::StrCat("kind=flip,bit=22,step=", step, ",", planted.spec);
    const TrainRig broken("bisect_broken");
    broken.Unseed(On(layout, fault));
    if (broken.Metrics() == clean.Metrics()) {
      ADD_FAILURE() << fault << " changes nothing";
      continue;
    }
    ExpectNamed(Bisected(clean, broken), step, planted, fault);
    step = step == 6 ? 2 : step + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, BisectTest, testing::Range(0, 4));

TEST(BisectVerdictTest, EqualRunsRaiseNoAlarm) {
  const TrainRig a("bisect_equal_a"), b("bisect_equal_b");
  a.Unseed(On({}));
  RigOptions shorter = On({});
  shorter.until = 4;
  b.Unseed(shorter);
  // What both have is equal, and one has more.
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "missing_steps") << json;
  EXPECT_EQ(json["step"], 5);
  EXPECT_EQ(json["replays"], 0);
  b.Unseed(On({}));
  const Json whole = Bisected(a, b);
  EXPECT_EQ(whole["verdict"], "equal") << whole;
  EXPECT_EQ(whole["replays"], 0);
}

TEST(BisectVerdictTest, AnotherRecipeIsTheAnswer) {
  const TrainRig a("bisect_lr_a"), b("bisect_lr_b");
  a.Unseed(On({}));
  b.Unseed(On({.sets = {"optimizer.lr=2e-3"}}));
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "manifest") << json;
  EXPECT_EQ(json["replays"], 0);
  EXPECT_NE(json["cause"].get<std::string>().find("optimizer.lr"),
            std::string::npos);
  EXPECT_EQ(json["step"], 1);
}

TEST(BisectVerdictTest, OtherTokensAreTheAnswer) {
  const TrainRig a("bisect_data_a"), b("bisect_data_b");
  a.Unseed(On({}));
  b.Unseed(On({}, "kind=skip_sample,step=4,sample=25"));
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "data") << json;
  EXPECT_EQ(json["step"], 4);
  EXPECT_EQ(json["sample"], 25);
  EXPECT_EQ(json["tokens_of"], 26);
  EXPECT_EQ(json["tokens_in"], "b");
  EXPECT_EQ(Bisected(b, a)["tokens_in"], "a");
  EXPECT_NE(json["cause"].get<std::string>().find("slipped"), std::string::npos)
      << json["cause"];
}

// A fault of the machine: the record does not come back. A trace of the run
// names the operation; without one the fields of the step are all there is.
TEST(BisectVerdictTest, WhatHappenedOnceIsNotRepeatable) {
  const std::string fault =
      "kind=flip,bit=22,step=5,element=70,replayed=no,"
      "at=layers.1.mixer.up_proj.forward";
  const TrainRig a("bisect_once_a"), b("bisect_once_b");
  RigOptions clean = On({}), broken = On({}, fault);
  for (RigOptions* options : {&clean, &broken}) {
    options->sets.push_back("trace.level=operation");
  }
  a.Unseed(clean);
  b.Unseed(broken);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["repeatable"], false);
  EXPECT_EQ(json["odd_one"], "b");
  EXPECT_EQ(json["scope"], "layers.1.mixer");
  EXPECT_EQ(json["operation"], "up_proj");
  const TrainRig c("bisect_once_c");
  c.Unseed(On({}, fault));
  const Json untraced = Bisected(a, c);
  EXPECT_EQ(untraced["verdict"], "operation") << untraced;
  EXPECT_EQ(untraced["repeatable"], false);
  EXPECT_TRUE(untraced["scope"].is_null());
}

TEST(BisectVerdictTest, BytesAreComparedAtTheEnd) {
  const TrainRig a("bisect_bytes_a"), b("bisect_bytes_b");
  a.Unseed(On({}));
  b.Unseed(On({},
              "kind=flip,bit=22,step=3,element=77,"
              "at=layers.0.mixer.in_proj.forward"));
  const Json json = Bisected(a, b);
  const Json elements = json["elements"];
  ASSERT_FALSE(elements.is_null()) << json;
  EXPECT_EQ(elements["differ"], 1);
  EXPECT_EQ(elements["first"], (std::vector<int64_t>{0, 77}));
  EXPECT_EQ(elements["ulps"].size(), 1u);
  EXPECT_EQ(elements["ulps"]["4194304"], 1);
}

}  // namespace
}  // namespace lockstep
