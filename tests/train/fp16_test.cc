// fp16 with its dynamic loss scale on whole runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Fp16(double scale) {
  RigOptions options;
  options.steps = 8;
  options.sets = {"precision.mode=fp16",
                  "precision.initial_scale=" + std::to_string(scale)};
  return options;
}

// A scale of 2^24 overflows at once: two overflows are forgiven by hysteresis
// once, then each halves the scale until a step is clean.
TEST(Fp16Test, OverflowSkipsTheUpdateAndLowersTheScale) {
  const TrainRig rig("fp16_overflow");
  RigOptions options = Fp16(16777216);
  options.steps = 30;
  rig.Unseed(options);
  int64_t skipped = 0, updates = 0;
  double scale = 16777216, lr_before = 0;
  for (const std::string& line : rig.Metrics()) {
    const Json json = Json::parse(line);
    EXPECT_LE(json["loss_scale"].get<double>(), scale);
    scale = json["loss_scale"];
    if (json["skipped"].get<bool>()) {
      ++skipped;
      EXPECT_EQ(json["updates"], updates) << "a skipped step moved Adam's t";
      EXPECT_EQ(json["lr"].get<double>(), 0.0);
    } else {
      EXPECT_EQ(json["updates"], ++updates);
      // The schedule counts samples of completed updates alone.
      if (updates <= 4) {
        EXPECT_GT(json["lr"].get<double>(), lr_before);
      }
      lr_before = json["lr"];
    }
    EXPECT_EQ(json["samples_seen"], json["step"].get<int64_t>() * 8);
  }
  EXPECT_GT(skipped, 0);
  EXPECT_GT(updates, 0);
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "\"skip\""));
}

// huggingface/transformers#34053: the scale came back as its initial value.
TEST(Fp16Test, AResumeInsideTheOverflowsIsTheUnbrokenRun) {
  const TrainRig unbroken("fp16_unbroken");
  RigOptions options = Fp16(16777216);
  options.steps = 12;
  const std::string unseed = unbroken.Unseed(options);
  for (const int64_t stop : {1, 2, 5, 9}) {
    const TrainRig rig("fp16_stop" + std::to_string(stop));
    RigOptions stopped = options;
    stopped.until = stop;
    rig.Unseed(stopped);
    EXPECT_EQ(rig.Unseed(options), unseed) << stop;
    EXPECT_EQ(rig.Metrics(), unbroken.Metrics()) << stop;
  }
}

TEST(Fp16Test, ANanAtTheSmallestScaleIsExit5) {
  const TrainRig rig("fp16_minimum");
  RigOptions options = Fp16(1);
  options.faults = {
      "kind=nan,step=3,at=layers.1.mixer.up_proj.forward,element=7"};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 5) << result.status.message();
  EXPECT_EQ(rig.Metrics().size(), 2u);
}

}  // namespace
}  // namespace lockstep
