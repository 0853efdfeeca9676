// One rule for the loss: a mean over the tokens of the step that count, however
// the step is cut.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Two layers each took the other to divide by the number of accumulated
// micro-batches (unslothai/unsloth-zoo#1023, huggingface/transformers#35438);
// only the last micro-batch's gradient survived (allenai/open-instruct#1498);
// nobody could say what was averaged (NVIDIA-NeMo/Speech#8343,
// NVIDIA/Megatron-LM#936). One step of 12 in 1, 2, 3, 4, 6 and 12 pieces.
TEST(LossCaseTest, AccumulationChangesNeitherLossNorUpdate) {
  RigOptions options = {
      .recipe = SmallRecipe("pieces", 30),
      .sets = {"batch.global=12", "batch.micro=12", "model.hidden_dropout=0.1"},
      .steps = 6};
  const TrainRig whole = SmallRig("pieces1");
  const std::string unseed = whole.Unseed(options);
  int64_t runs = 0;
  for (const int64_t micro : {6, 4, 3, 2, 1}) {
    const TrainRig rig = SmallRig(absl::StrCat("pieces", 12 / micro));
    options.sets[1] = absl::StrCat("batch.micro=", micro);
    EXPECT_EQ(rig.Unseed(options), unseed) << micro;
    EXPECT_TRUE(SameLines(rig.Metrics(), whole.Metrics())) << micro;
    ++runs;
  }
  EXPECT_EQ(runs, 5);
  for (const Json& line : Lines(whole)) {
    EXPECT_EQ(line["valid_tokens"], 12 * kSmallSequence);
  }
}

// Each rank divided by its own count of tokens and then ranks were averaged, so
// that a token in poor company weighed five times as much
// (huggingface/transformers#34242, pytorch/torchtitan#1842). On one rank the
// same holds of micro-batches: here of 5, 1 and 0 tokens that count, since the
// label after a document's end does not.
TEST(LossCaseTest, ATokenWeighsTheSameWhereverItIs) {
  std::vector<std::vector<int32_t>> documents = {{1, 2, 3, 4, 5, 6}};
  for (int32_t id = 7; id < 10; ++id) documents.push_back({id});
  documents.push_back({10, 11});  // tokens 9 and 10
  for (int32_t id = 12; id < 17; ++id) documents.push_back({id});
  documents.push_back({20, 21, 22, 23, 24, 25});  // held out
  const std::string recipe = WriteSmallRecipe(
      "uneven", "reset_at_documents = true\n" +
                    SourceOf(WriteDocuments("uneven", documents)));
  RigOptions options = {
      .recipe = recipe,
      .sets = {"data.sequence=5", "batch.global=3", "batch.micro=3"},
      .steps = 6};
  const TrainRig whole = SmallRig("uneven_whole"), parts = SmallRig("uneven");
  const std::string unseed = whole.Unseed(options);
  const std::vector<Json> lines = Lines(whole);
  ASSERT_EQ(lines.size(), 6u);
  for (const Json& line : lines) EXPECT_EQ(line["valid_tokens"], 6);
  options.sets[2] = "batch.micro=1";
  EXPECT_EQ(parts.Unseed(options), unseed);
  EXPECT_TRUE(SameLines(parts.Metrics(), whole.Metrics()));
  EXPECT_LT(lines[5]["loss"].get<double>(), lines[0]["loss"].get<double>());
}

// Documents of one token have no label that counts: a step of nothing else has
// no loss to divide, and says what to do instead of dividing by zero. Steps
// before it stand.
TEST(LossCaseTest, AStepWhoseEveryLabelIsMaskedIsRefusedByName) {
  std::vector<std::vector<int32_t>> documents;
  for (int32_t id = 0; id < 4 * kSmallSequence; ++id) documents.push_back({id});
  documents.push_back(std::vector<int32_t>(2 * kSmallSequence, 7));  // held out
  const std::string source = SourceOf(WriteDocuments("masked", documents));
  const TrainRig rig = SmallRig("masked");
  RigOptions options = {.recipe = WriteSmallRecipe(
                            "masked", "reset_at_documents = true\n" + source)};
  const RigResult refused = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(refused.status), 2);
  for (const char* part :
       {"no token of this step has a label that counts",
        "step 1, samples 0 to 3", "data.reset_at_documents"}) {
    EXPECT_TRUE(absl::StrContains(refused.status.message(), part))
        << part << " is not in " << refused.status.message();
  }
  EXPECT_TRUE(rig.Metrics().empty());
  // What it says to do helps.
  options.recipe = WriteSmallRecipe("unmasked", source);
  SmallRig("unmasked").Unseed(options);
}

// The same of what is held out: there are documents, and nothing to measure.
TEST(LossCaseTest, AnEvaluationWhoseEveryLabelIsMaskedIsRefusedByName) {
  std::vector<std::vector<int32_t>> documents = {
      std::vector<int32_t>(9 * kSmallSequence, 7)};
  for (int32_t id = 0; id < 2 * kSmallSequence; ++id) documents.push_back({id});
  const std::string recipe = WriteSmallRecipe(
      "masked_eval", "reset_at_documents = true\n" +
                         SourceOf(WriteDocuments("masked_eval", documents)) +
                         "[eval]\nevery = 2\n");
  const TrainRig rig = SmallRig("masked_eval");
  const RigResult refused =
      rig.Train({.recipe = recipe, .sets = {"data.validation_fraction=0.1"}});
  EXPECT_EQ(ExitCodeFor(refused.status), 2);
  EXPECT_TRUE(absl::StrContains(
      refused.status.message(),
      "no token of the held-out documents has a label that counts"))
      << refused.status.message();
}

// The rest of an epoch that filled no window was thrown away or leaked, an
// epoch shorter than the window trained nothing, and the schedule moved with
// micro-batches (tracel-ai/burn#5695, NVIDIA-NeMo/Automodel#2257).
TEST(LossCaseTest, AWindowGoesOnIntoTheNextEpoch) {
  for (const int64_t samples : {7, 3}) {
    const std::string name = absl::StrCat("window", samples);
    const RigOptions options = {.recipe = SmallRecipe(name, samples),
                                .sets = {"batch.micro=1"},
                                .steps = 14};
    const TrainRig rig = SmallRig(name);
    rig.Unseed(options);
    int64_t consumed = 0;
    std::vector<std::set<int64_t>> epochs(56 / samples + 1);
    for (const auto& step : Consumed(rig, options)) {
      for (const SampleLocation& at : step) {
        EXPECT_EQ(at.epoch, consumed / samples);
        epochs[at.epoch].insert(at.sample);
        ++consumed;
      }
    }
    EXPECT_EQ(consumed, 14 * 4);
    for (int64_t epoch = 0; epoch < 56 / samples; ++epoch) {
      EXPECT_EQ(epochs[epoch].size(), static_cast<size_t>(samples));
    }
    int64_t updates = 0;
    for (const Json& line : Lines(rig)) EXPECT_EQ(line["updates"], ++updates);
  }
}

TEST(LossCaseTest, AWindowThatIsNoneIsRefused) {
  const std::string recipe = SmallRecipe("no_window", 7);
  for (const char* set :
       {"batch.micro=0", "batch.global=0", "batch.micro=3", "batch.micro=8"}) {
    const TrainRig rig = SmallRig("no_window");
    const RigResult result = rig.Train({.recipe = recipe, .sets = {set}});
    EXPECT_EQ(ExitCodeFor(result.status), 2) << set;
    EXPECT_TRUE(absl::StrContains(result.status.message(), "batch.")) << set;
    EXPECT_FALSE(rig.Exists("manifest.json"));
  }
}

}  // namespace
}  // namespace lockstep
