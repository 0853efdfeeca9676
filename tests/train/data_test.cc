// What whole runs read: epochs, blends, stages, document resets, other batches.
//
// metrics.jsonl holds the `data` fingerprint of every step, so equal metrics
// mean equal samples in equal order.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr int64_t kSteps = 9;  // of 8 samples
// Stopped after each step and resumed; and stopped after three of them.
void ExpectAnyResumeIsTheUnbrokenRun(const std::string& name,
                                     const RigOptions& options) {
  const TrainRig unbroken(name + "_unbroken");
  const std::string unseed = unbroken.Unseed(options);
  const std::vector<std::string> metrics = unbroken.Metrics();
  ASSERT_EQ(metrics.size(), static_cast<size_t>(kSteps));
  std::set<std::string> data;
  for (const std::string& line : metrics) {
    data.insert(Json::parse(line)["fingerprint"]["data"]);
  }
  EXPECT_EQ(data.size(), metrics.size());
  RigOptions part = options;
  for (int64_t stop = 1; stop < kSteps; ++stop) {
    const TrainRig rig(absl::StrCat(name, "_stop", stop));
    part.until = stop;
    rig.Unseed(part);
    EXPECT_EQ(rig.Unseed(options), unseed) << "stopped after " << stop;
    EXPECT_EQ(rig.Metrics(), metrics) << "stopped after " << stop;
  }
  const TrainRig thrice(name + "_thrice");
  for (const int64_t stop : {3, 6, 8}) {
    part.until = stop;
    thrice.Unseed(part);
    const Json last = Json::parse(thrice.Metrics().back());
    EXPECT_EQ(last["sample_last"], 8 * stop - 1);
    EXPECT_EQ(last["samples_seen"], 8 * stop);
  }
  EXPECT_EQ(thrice.Unseed(options), unseed);
  EXPECT_EQ(thrice.Metrics(), metrics);
}

// An epoch is two steps exactly: stops lie at the end of one, at the start of
// the next and inside (huggingface/accelerate#2016,
// huggingface/accelerate#1451, pytorch/torchtitan#3907, meta-pytorch/data#1437,
// NVIDIA-NeMo/Speech#7221).
TEST(DataRunTest, AStopAnywhereInAnyEpochLosesAndRepeatsNoSample) {
  const std::string recipe =
      WriteRecipe("epochs", "validation_fraction = 0.01\n" +
                                Source(WriteSource("epochs", 16)));
  ExpectAnyResumeIsTheUnbrokenRun("epochs",
                                  {.recipe = recipe, .steps = kSteps});
}

// Three stages over two small sources, one of them met only from step 5 on,
// with documents reset (huggingface/nanotron#380: always the last stage's
// data, also after a resume).
TEST(DataRunTest, ABlendWithStagesAndResetsResumesExactly) {
  const std::string recipe = WriteRecipe(
      "stages",
      "validation_fraction = 0.01\nreset_at_documents = true\n"
      "[[data.weights_schedule]]\nfrom_sample = 32\nweights = [0.3, 0.7]\n"
      "[[data.weights_schedule]]\nfrom_sample = 65\nweights = [1, 0]\n" +
          Source(WriteSource("a", 10)) + Source(WriteSource("b", 20)) +
          "weight = 0\n");
  ExpectAnyResumeIsTheUnbrokenRun("stages",
                                  {.recipe = recipe, .steps = kSteps});
}

// N14: the label after a document's last token does not count, and the state
// does not cross: another loss from the same tokens.
TEST(DataRunTest, N14ResetsReachTheModelAndTheMask) {
  const std::string source = Source(WriteSource("reset", 16));
  std::vector<Json> first;
  for (const char* reset : {"true", "false"}) {
    const TrainRig rig(absl::StrCat("reset_", reset));
    rig.Unseed({.recipe = WriteRecipe(absl::StrCat("reset_", reset),
                                      absl::StrCat("validation_fraction = "
                                                   "0.01\nreset_at_documents "
                                                   "= ",
                                                   reset, "\n", source)),
                .steps = 1});
    first.push_back(Json::parse(rig.Metrics()[0]));
  }
  // 8 of the 16 samples, 25 of whose 512 labels follow a document's end.
  EXPECT_EQ(first[1]["valid_tokens"], 8 * kSequence);
  EXPECT_LE(first[0]["valid_tokens"], 8 * (kSequence - 1));
  EXPECT_GE(first[0]["valid_tokens"], 8 * (kSequence - 2));
  EXPECT_NE(first[0]["loss_bits"], first[1]["loss_bits"]);
}

TEST(DataRunTest, EvaluationIsBySource) {
  const std::string recipe = WriteRecipe(
      "eval", "validation_fraction = 0.01\n" + Source(WriteSource("c", 10)) +
                  Source(WriteSource("d", 20)));
  const TrainRig rig("eval");
  rig.Unseed({.recipe = recipe, .sets = {"eval.every=2"}, .steps = 2});
  const Json line = Json::parse(rig.Read("eval.jsonl"));
  ASSERT_EQ(line["sources"].size(), 2u);
  EXPECT_EQ(line["samples"], 4);
  EXPECT_EQ(line["tokens"], 88);
  for (const Json& source : line["sources"]) {
    EXPECT_EQ(source["samples"], 2);
    EXPECT_EQ(source["tokens"], 44);
  }
  EXPECT_NE(line["sources"][0]["loss_bits"], line["sources"][1]["loss_bits"]);
}

}  // namespace
}  // namespace lockstep
