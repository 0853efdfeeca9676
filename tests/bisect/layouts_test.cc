// Two runs on two layouts that promise equal bits: an operation that one of
// them spoils is named, with its bytes, and so is a state that came back
// otherwise; neither is taken for the other.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/audit/forge_for_test.h"
#include "tests/bisect/bisected_for_test.h"
#include "tests/train/train_rig.h"

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
  return {{"data", 2, {"parallel.data=2"}},
          {"tensor", 2, {"parallel.tensor=2"}},
          {"pipeline", 2, {"parallel.pipeline=2"}}};
}

RigOptions On(const Layout& layout, const std::string& fault = "") {
  RigOptions options = {
      .sets = layout.sets, .threads = 1, .ranks = layout.ranks};
  options.sets.insert(options.sets.end(),
                      {"checkpoint.every=2", "guarantee=layout_invariant"});
  if (!fault.empty()) options.faults = {fault};
  return options;
}

TEST(BisectLayoutsTest, AnOperationIsNamedWithItsBytes) {
  const TrainRig one("layouts_one");
  one.Unseed(On({}));
  struct Place {
    std::string at, scope, operation, phase, tensor;
    std::vector<int64_t> first;
  };
  const std::string weight = "backbone.layers.1.mixer.up_proj.weight";
  const std::vector<Place> places = {
      {"layers.1.mixer.up_proj.forward",
       "layers.1.mixer",
       "up_proj",
       "forward",
       "y",
       {0, 7}},
      {"layers.0.mixer.conv1d.forward",
       "layers.0.mixer",
       "conv1d",
       "forward",
       "y",
       {0, 7}},
      {weight + ".gradient", weight, "gradient", "reduction", "grad", {0, 7}}};
  for (size_t i = 0; i < Layouts().size(); ++i) {
    const Layout layout = Layouts()[i];
    const Place& place = places[i];
    const TrainRig two("layouts_" + layout.name);
    two.Unseed(On(layout, "kind=flip,bit=22,step=3,element=7,at=" + place.at));
    ASSERT_NE(one.Metrics(), two.Metrics()) << layout.name;
    const Json json = i % 2 == 0 ? Bisected(one, two) : Bisected(two, one);
    EXPECT_EQ(json["verdict"], "operation") << layout.name << json;
    EXPECT_EQ(json["step"], 3) << layout.name;
    EXPECT_EQ(json["scope"], place.scope) << layout.name << json;
    EXPECT_EQ(json["operation"], place.operation) << layout.name;
    EXPECT_EQ(json["phase"], place.phase) << layout.name;
    EXPECT_EQ(json["tensor"], place.tensor) << layout.name;
    EXPECT_TRUE(json["rank"].is_null()) << layout.name;
    EXPECT_EQ(json["repeatable"], true) << layout.name;
    EXPECT_EQ(json["sound_memory"], true) << layout.name;
    EXPECT_LE(json["replays"], 2) << layout.name;
    ASSERT_FALSE(json["elements"].is_null()) << layout.name << json;
    EXPECT_EQ(json["elements"]["differ"], 1) << layout.name << json;
    EXPECT_EQ(json["elements"]["first"], place.first) << layout.name;
  }
}

// One rank that went on from a checkpoint that was changed, or from a sound one
// to a fault behind it, and other layouts that went through.
TEST(BisectLayoutsTest, ALoadIsBlamedWhereItIsOne) {
  const std::string entry =
      "optimizer/backbone.layers.3.mixer.o_proj.weight.exp_avg";
  const TrainRig forged("load_forged"), sound("load_sound");
  RigOptions half = On({});
  half.until = 4;
  forged.Unseed(half);
  sound.Unseed(half);
  ForgeTensor(forged.dir() + "/checkpoints/step_00000004", entry);
  forged.Unseed(On({}));
  sound.Unseed(On({},
                  "kind=flip,bit=22,step=5,element=77,"
                  "at=layers.0.mixer.in_proj.forward"));
  for (const Layout& layout : Layouts()) {
    const TrainRig through("load_" + layout.name);
    through.Unseed(On(layout));
    const Json json = Bisected(through, forged);
    EXPECT_EQ(json["verdict"], "state_after_load") << layout.name << json;
    EXPECT_EQ(json["step"], 5) << layout.name;
    EXPECT_EQ(json["tensor"], entry) << layout.name;
    EXPECT_EQ(json["odd_one"], "b") << layout.name;
    EXPECT_TRUE(json["rank"].is_null()) << layout.name;
    EXPECT_EQ(json["state"]["entries"], 1) << layout.name << json;
    EXPECT_EQ(json["state"]["saved_right"], false) << layout.name;
    const Json other = Bisected(through, sound);
    EXPECT_EQ(other["verdict"], "operation") << layout.name << other;
    EXPECT_EQ(other["operation"], "in_proj") << layout.name;
    EXPECT_TRUE(other["state"].is_null()) << layout.name;
  }
}

}  // namespace
}  // namespace lockstep
