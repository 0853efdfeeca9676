// The spike detector on whole runs: it fires when it must, decides once for all
// of a step, and decides the same after a resume.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr int64_t kSteps = 9;
// Of the first micro-batch; step 7, so that 6 updates are known.
const char* const kLossSpike = "kind=spike,step=7,at=lm_head.loss.forward";
const char* const kGradSpike =
    "kind=spike,step=7,at=layers.3.mixer.o_proj.backward";

RigOptions Spiky(const std::string& action) {
  RigOptions options;
  options.steps = kSteps;
  options.sets = {"spike.action=" + action, "spike.window=8", "spike.warmup=4"};
  return options;
}

Json Line(const TrainRig& rig, size_t step) {
  return Json::parse(rig.Metrics().at(step - 1));
}

// A clean run of debug.toml, of its full length and three times it, has none.
TEST(SpikeTest, ACleanRunRaisesNone) {
  for (const int64_t steps : {20, 60}) {
    const TrainRig rig(absl::StrCat("clean", steps), TrainRig::kAsShipped);
    RigOptions options = Spiky("note");
    options.sets.push_back(absl::StrCat("train.steps=", steps));
    rig.Unseed(options);
    EXPECT_EQ(rig.Metrics().size(), static_cast<size_t>(steps));
    EXPECT_FALSE(absl::StrContains(rig.Read("ledger.jsonl"), "\"spike\""));
    EXPECT_FALSE(absl::StrContains(rig.Read("metrics.jsonl"), "\"spike\""));
  }
}

// Canary: a planted spike is noted, and noting it changes no bit (N12).
TEST(SpikeTest, NoteFindsItAndChangesNothing) {
  const TrainRig noted("noted"), off("off");
  RigOptions options = Spiky("note");
  options.faults = {kLossSpike};
  const std::string unseed = noted.Unseed(options);
  EXPECT_EQ(Line(noted, 7)["spike"], "loss");
  EXPECT_EQ(Line(noted, 7)["skipped"], false);
  EXPECT_TRUE(absl::StrContains(noted.Read("ledger.jsonl"),
                                "\"event\":\"spike\",\"step\":7"));
  options.sets[0] = "spike.action=off";
  EXPECT_EQ(off.Unseed(options), unseed);
  EXPECT_FALSE(Line(off, 7).contains("spike"));
  for (size_t step = 1; step <= kSteps; ++step) {
    EXPECT_EQ(Line(noted, step)["fingerprint"], Line(off, step)["fingerprint"])
        << step;
  }
}

void ExpectSkippedStep7(const TrainRig& rig, const std::string& what) {
  const Json before = Line(rig, 6), at = Line(rig, 7), after = Line(rig, 8);
  EXPECT_EQ(at["skipped"], true);
  EXPECT_EQ(at["spike"], what);
  EXPECT_EQ(at["fingerprint"]["params"], before["fingerprint"]["params"]);
  EXPECT_EQ(at["updates"], before["updates"]) << "Adam's t";
  EXPECT_EQ(at["loss_scale"], after["loss_scale"]);
  // Samples count as consumed: the next step takes the next ones.
  EXPECT_EQ(at["samples_seen"], 56);
  EXPECT_EQ(after["sample_first"].get<int64_t>(),
            at["sample_last"].get<int64_t>() + 1);
  EXPECT_EQ(after["skipped"], false);
  EXPECT_EQ(after["updates"].get<int64_t>(),
            before["updates"].get<int64_t>() + 1);
  const std::string ledger = rig.Read("ledger.jsonl");
  EXPECT_TRUE(absl::StrContains(
      ledger,
      "\"event\":\"skip\",\"step\":7,\"reason\":\"spike\",\"what\":\"" + what))
      << ledger;
}

// facebookresearch/metaseq#521, facebookresearch/metaseq#542,
// NVIDIA-NeMo/Speech#637: skipping was decided rank by rank. Here it is one
// decision from reduced values: the step is skipped as a whole, parameters and
// moments as they were, samples consumed.
TEST(SpikeTest, SkipLeavesParametersAndConsumesSamples) {
  const TrainRig rig("skip_loss");
  RigOptions options = Spiky("skip");
  options.faults = {kLossSpike};
  rig.Unseed(options);
  ExpectSkippedStep7(rig, "loss");
}

TEST(SpikeTest, ASpikeOfTheGradientAloneIsSkippedToo) {
  const TrainRig rig("skip_grad");
  RigOptions options = Spiky("skip");
  options.faults = {kGradSpike};
  rig.Unseed(options);
  ExpectSkippedStep7(rig, "grad_norm");
}

// The statistics are state: a run that is resumed right before the spike, right
// after it, and at every other step, decides as the unbroken one.
TEST(SpikeTest, AResumedRunDecidesTheSame) {
  for (const char* mode : {"fp32", "fp16"}) {
    const TrainRig unbroken(absl::StrCat("spike_unbroken_", mode));
    RigOptions options = Spiky("skip");
    options.sets.push_back(absl::StrCat("precision.mode=", mode));
    options.sets.push_back("precision.initial_scale=1024");
    options.faults = {kLossSpike};
    const std::string unseed = unbroken.Unseed(options);
    ExpectSkippedStep7(unbroken, "loss");
    for (const int64_t stop : {3, 6, 7, 8}) {
      const TrainRig rig(absl::StrCat("spike_stop_", mode, stop));
      RigOptions part = options;
      part.until = stop;
      rig.Unseed(part);
      EXPECT_EQ(rig.Unseed(options), unseed) << mode << " " << stop;
      EXPECT_EQ(rig.Metrics(), unbroken.Metrics()) << mode << " " << stop;
    }
  }
}

TEST(SpikeTest, StopAppliesNothingAndSaysWhere) {
  const TrainRig rig("stop"), clean("stop_clean");
  RigOptions options = Spiky("stop");
  options.sets.insert(options.sets.end(),
                      {"checkpoint.every=1", "checkpoint.keep=2"});
  const std::string unseed = clean.Unseed(options);
  options.faults = {kLossSpike};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 5);
  const auto message = result.status.message();
  for (const char* part :
       {"a spike: loss", "median", "step 7", "samples 48 to"}) {
    EXPECT_TRUE(absl::StrContains(message, part)) << part << ": " << message;
  }
  EXPECT_EQ(rig.Metrics().size(), 6u);
  EXPECT_EQ(rig.List("checkpoints").size(), 2u);
  EXPECT_TRUE(rig.Exists("checkpoints/step_00000006/index.json"));
  options.faults = {};
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_EQ(rig.Metrics(), clean.Metrics());
}

// What skips every step waits for weights that never move.
TEST(SpikeTest, TooManySkipsInARowStop) {
  const TrainRig rig("endless");
  RigOptions options = Spiky("skip");
  options.sets.push_back("spike.skips=2");
  options.steps = 12;
  options.faults = {absl::StrCat(kLossSpike, ",when=from")};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 5);
  EXPECT_TRUE(absl::StrContains(result.status.message(), "spike.skips = 2"))
      << result.status.message();
  EXPECT_EQ(rig.Metrics().size(), 8u);
}

// kyutai-labs/pocket-tts#262 beside the detector: a non-finite value is none
// of its business, whatever its action, and never saved.
TEST(SpikeTest, ANanIsNotASpike) {
  for (const char* action : {"note", "skip"}) {
    const TrainRig rig(absl::StrCat("spike_nan_", action));
    RigOptions options = Spiky(action);
    options.sets.insert(options.sets.end(),
                        {"checkpoint.every=1", "checkpoint.keep=2"});
    options.faults = {
        "kind=nan,step=7,at=layers.3.mixer.o_proj.backward,element=5"};
    const RigResult result = rig.Train(options);
    EXPECT_EQ(ExitCodeFor(result.status), 5);
    EXPECT_TRUE(absl::StrContains(result.status.message(), "not finite"));
    EXPECT_TRUE(rig.Exists("checkpoints/step_00000006/index.json"));
    EXPECT_FALSE(rig.Exists("checkpoints/step_00000007"));
    // It is there and loads.
    RigOptions again = Spiky(action);
    again.sets = options.sets;
    again.resume = "must";
    rig.Unseed(again);
    EXPECT_EQ(rig.Metrics().size(), static_cast<size_t>(kSteps));
  }
}

}  // namespace
}  // namespace lockstep
