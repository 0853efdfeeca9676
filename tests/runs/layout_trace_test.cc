// `trace diff` of whole runs on two layouts: equal runs have equal traces, and
// an operation that one of them spoils is named.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/train/train_rig.h"
#include "tools/trace_verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

struct Layout {
  std::string name;
  int64_t ranks = 1;
  Words sets = {};
};

std::vector<Layout> Layouts() {
  return {{"one", 1, {}},
          {"data", 2, {"parallel.data=2"}},
          {"tensor", 2, {"parallel.tensor=2"}},
          {"sequence", 2, {"parallel.tensor=2", "parallel.sequence=true"}},
          {"pipeline", 2, {"parallel.pipeline=2"}},
          {"both", 4, {"parallel.data=2", "parallel.tensor=2"}}};
}

RigOptions Traced(const Layout& layout) {
  RigOptions options = {
      .sets = {"guarantee=layout_invariant", "trace.level=operation"},
      .steps = 4,
      .threads = 1,
      .ranks = layout.ranks,
      .until = 2};
  options.sets.insert(options.sets.end(), layout.sets.begin(),
                      layout.sets.end());
  return options;
}

Json Difference(const TrainRig& a, const TrainRig& b) {
  const auto answer = TraceDiffVerb({.a = a.dir(), .b = b.dir(), .json = true});
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return answer.ok() ? Json::parse(answer->text) : Json();
}

// Each with each: what one of them alone has in parts is whole in another.
TEST(LayoutTraceTest, EqualRunsOnTwoLayoutsHaveEqualTraces) {
  std::vector<std::unique_ptr<TrainRig>> runs;
  std::string unseed;
  for (const Layout& layout : Layouts()) {
    runs.push_back(std::make_unique<TrainRig>("layout_" + layout.name));
    const std::string state = runs.back()->Unseed(Traced(layout));
    if (unseed.empty()) unseed = state;
    EXPECT_EQ(state, unseed) << layout.name;
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < runs.size(); ++j) {
      if (i == j) continue;
      const Json json = Difference(*runs[i], *runs[j]);
      EXPECT_EQ(json["verdict"], "equal") << i << " " << j << ": " << json;
      EXPECT_EQ(json["across_layouts"], true) << i << " " << j;
      EXPECT_EQ(json["missing"], 0) << i << " " << j;
      EXPECT_GT(json["compared"], 200) << i << " " << j;
    }
  }
}

// What is left out hides no operation of either side, of a pass or of a step,
// whichever layout has the fault.
TEST(LayoutTraceTest, AnOperationOfOneLayoutAloneIsNamed) {
  const std::string flip = "kind=flip,bit=22,step=2,element=7,at=";
  const std::string weight = "backbone.layers.1.mixer.up_proj.weight.";
  struct Place {
    std::string at, operation, verdict;
  };
  const std::vector<Place> places = {
      {"layers.1.mixer.up_proj.forward", "up_proj", "origin"},
      {"layers.0.mixer.ssd_scan.backward", "ssd_scan", "origin"},
      {weight + "gradient", "gradient", "unknown_inputs"},
      {weight + "adamw.optimizer", "adamw", "origin"}};
  const TrainRig one("spoilt_one");
  one.Unseed(Traced({}));
  for (size_t i = 1; i < Layouts().size(); ++i) {
    const Layout layout = Layouts()[i];
    const auto& [at, operation, verdict] = places[i % places.size()];
    const TrainRig two("spoilt_" + layout.name);
    RigOptions spoilt = Traced(layout);
    spoilt.faults = {flip + at};
    two.Unseed(spoilt);
    for (const bool swapped : {false, true}) {
      const Json json = swapped ? Difference(two, one) : Difference(one, two);
      EXPECT_EQ(json["verdict"], verdict) << layout.name << json;
      EXPECT_EQ(json["step"], 2) << layout.name << json;
      EXPECT_EQ(json["operation"], operation) << layout.name << json;
    }
  }
}

// The sum over tensor ranks is part of the operation that takes it: a rank by
// itself cannot tell its own error from what it was given.
TEST(LayoutTraceTest, ASumOverRanksWithoutATraceIsNoOrigin) {
  const Layout tensor = {"tensor", 2, {"parallel.tensor=2"}};
  const std::string fault =
      "kind=flip,bit=21,step=2,element=77,rank=1,"
      "at=layers.3.mixer.o_proj.backward";
  RigOptions one = Traced(tensor), all = Traced(tensor);
  one.sets.push_back("trace.ranks=[0]");
  RigOptions one_broken = one, all_broken = all;
  one_broken.faults = all_broken.faults = {fault};
  const TrainRig a("sum_a"), b("sum_b"), c("sum_c"), d("sum_d");
  a.Unseed(one);
  b.Unseed(one_broken);
  const Json partial = Difference(a, b);
  EXPECT_EQ(partial["verdict"], "receiver") << partial;
  EXPECT_EQ(partial["sums_untraced"], true);
  c.Unseed(all);
  d.Unseed(all_broken);
  const Json whole = Difference(c, d);
  EXPECT_EQ(whole["verdict"], "origin") << whole;
  EXPECT_EQ(whole["rank"], 1);
  EXPECT_EQ(whole["operation"], "o_proj");
}

// A trace that begins behind the fault has other weights: its first operation
// was only given them, and the capture is what must be widened.
TEST(LayoutTraceTest, AnOperationThatReadsOtherWeightsIsNoOrigin) {
  for (const Layout& layout : Layouts()) {
    // Tensor ranks put x together from the rows of all of them: one that holds
    // equal rows gets another x, and is still taken for an origin.
    if (layout.name != "one" && layout.name != "data" &&
        layout.name != "pipeline") {
      continue;
    }
    RigOptions options = Traced(layout);
    options.sets.push_back("trace.steps=[2,2]");
    const TrainRig sound("layout_sound"), faulty("layout_behind");
    sound.Unseed(options);
    options.faults = {
        "kind=flip,bit=22,step=1,element=7,"
        "at=layers.1.mixer.up_proj.backward"};
    faulty.Unseed(options);
    const Json json = Difference(sound, faulty);
    EXPECT_EQ(json["verdict"], "receiver") << layout.name << ": " << json;
    EXPECT_EQ(json["operation"], "lookup") << layout.name << ": " << json;
    EXPECT_EQ(json["tensor"], "weight") << layout.name << ": " << json;
  }
}

}  // namespace
}  // namespace lockstep
