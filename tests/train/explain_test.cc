// What `explain` says of whole runs.
//
// Public reports behind it: marin-community/levanter#391 and
// huggingface/transformers#5048, spikes that nobody could look into.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "determinism/status.h"
#include "tests/train/explain_for_test.h"
#include "tools/replay_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// The step whose loss is furthest above the step before, from `from` on.
int64_t SpikeStep(const TrainRig& rig, size_t from) {
  const std::vector<std::string> lines = rig.Metrics();
  int64_t spike = 0;
  double most = 0;
  for (size_t i = from; i < lines.size(); ++i) {
    const Json step = Json::parse(lines[i]), before = Json::parse(lines[i - 1]);
    const double rise =
        step["loss"].get<double>() - before["loss"].get<double>();
    if (rise <= most) continue;
    most = rise;
    spike = step["step"];
  }
  EXPECT_GT(most, 0.3) << "the planted document makes no spike";
  return spike;
}

TEST(ExplainTest, NamesAPlantedDocumentAsTheCauseOfASpike) {
  const std::string recipe =
      WriteRecipe("planted", "validation_fraction = 0.01\n" +
                                 Source(WriteEasySource("easy_a", 500, false)) +
                                 Source(WriteEasySource("easy_b", 500, true)));
  const TrainRig rig("planted");
  rig.Unseed({.recipe = recipe,
              .sets = {"checkpoint.every=10", "optimizer.lr=1e-2"},
              .steps = 60});
  const int64_t spike = SpikeStep(rig, 20);
  const auto json = Explain(rig, spike);
  ASSERT_TRUE(json.ok()) << std::string(json.status().message());
  const Json& suspect = (*json)["suspect"];
  EXPECT_EQ(suspect["source"], 1);
  EXPECT_EQ(suspect["document"], kPlanted);
  EXPECT_GT(suspect["loss_z"], 5);
  EXPECT_GT(suspect["excess_share"], 0.5);
  EXPECT_EQ((*json)["verdict"], "recurs_to_the_bit");
  const Json recorded =
      Json::parse(rig.Metrics()[static_cast<size_t>(spike - 1)]);
  EXPECT_EQ((*json)["loss_bits"], recorded["loss_bits"]);
  EXPECT_EQ((*json)["fingerprint"], recorded["fingerprint"]);
  // All samples of the step, each once, with losses that make up the step's.
  double sum = 0;
  std::set<uint64_t> ids;
  for (const Json& sample : (*json)["samples"]) {
    ids.insert(sample["global_index"].get<uint64_t>());
    sum += sample["loss"].get<double>() * sample["labels"].get<double>();
    int64_t tokens = 0, labels = 0;
    for (const Json& document : sample["documents"]) {
      EXPECT_EQ(document["position"], tokens);
      tokens += document["tokens"].get<int64_t>();
      labels += document["labels"].get<int64_t>();
    }
    EXPECT_EQ(tokens, kSequence + 1);
    EXPECT_EQ(labels, sample["labels"]);
    EXPECT_EQ(sample["as_in_file"], true);
  }
  ASSERT_EQ(ids.size(), 8u);
  EXPECT_EQ(*ids.begin(), recorded["sample_first"]);
  EXPECT_EQ(*ids.rbegin(), recorded["sample_last"]);
  EXPECT_NEAR(sum / recorded["valid_tokens"].get<double>(),
              recorded["loss"].get<double>(), 1e-12);
  const Json& worst = (*json)["samples"][0];
  EXPECT_EQ(worst["longest_run"]["token"], kRare);
  EXPECT_GE(worst["longest_run"]["length"], 4);
}

TEST(ExplainTest, RefusesWhatCannotBeExplained) {
  FileSystem& fs = *PosixFileSystem();
  const std::string prefix = WriteEasySource("changed", 100, false);
  const std::string recipe =
      WriteRecipe("changed", "validation_fraction = 0.01\n" + Source(prefix));
  const TrainRig rig("refused");
  EXPECT_EQ(ExitCode(rig, 1), 2);  // no run
  rig.Unseed({.recipe = recipe, .sets = {"checkpoint.every=2"}, .steps = 5});
  for (const int64_t step : {-1, 0, 6, 7, 1000}) {
    EXPECT_EQ(ExitCode(rig, step), 2) << step;
  }
  // The first checkpoints are damaged: begin at the seed instead if told to.
  for (const std::string name : {"step_00000002", "step_00000004"}) {
    const std::string file = "checkpoints/" + name + "/rank_00000.safetensors";
    std::string bytes = rig.Read(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    rig.Write(file, bytes);
  }
  auto options = ReplayOptions{.before = 5};
  EXPECT_EQ(ExitCodeFor(ReplayRun::Open(fs, rig.dir(), options).status()), 4);
  options.from_seed = true;
  auto run = ReplayRun::Open(fs, rig.dir(), options);
  ASSERT_TRUE(run.ok()) << std::string(run.status().message());
  EXPECT_TRUE((*run)->Step()->recurs());
  // Other data under the same name.
  WriteEasySource("changed", 101, false);
  const auto other = Explain(rig, 1);
  EXPECT_EQ(ExitCodeFor(other.status()), 2);
  EXPECT_NE(other.status().message().find("not what the run read"),
            absl::string_view::npos)
      << std::string(other.status().message());
}

// The step that a run stopped in is the one to ask about.
TEST(ExplainTest, ExplainsTheStepThatTheRunStoppedIn) {
  const TrainRig rig("stopped");
  const RigResult result = rig.Train(
      {.steps = 6,
       .faults = {"kind=nan,step=4,at=layers.1.mixer.down_proj.forward,"
                  "element=0,sample=28"}});
  ASSERT_EQ(ExitCodeFor(result.status), 5);
  const auto json = Explain(rig, 4);
  ASSERT_TRUE(json.ok()) << std::string(json.status().message());
  EXPECT_EQ((*json)["verdict"], "stopped");
  EXPECT_EQ((*json)["suspect"]["sample"], 28);
  EXPECT_EQ(ExitCode(rig, 5), 2);
}

}  // namespace
}  // namespace lockstep
