// Two runs with other settings, of those that move no bit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace
}  // namespace lockstep
