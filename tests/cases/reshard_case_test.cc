// A state that goes from layout to layout stays what it is.
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

RigOptions On(const std::string& recipe, int data, int pipeline, int tensor,
              const std::vector<std::string>& more = {}) {
  RigOptions options = {
      .recipe = recipe,
      .sets = {"guarantee=layout_invariant", "model.vocab=301",
               "model.hidden_dropout=0.1", "checkpoint.every=1",
               "schedule.warmup=1", absl::StrCat("parallel.data=", data),
               absl::StrCat("parallel.pipeline=", pipeline),
               absl::StrCat("parallel.tensor=", tensor)},
      .steps = 8,
      .threads = 1,
      .ranks = data * pipeline * tensor};
  options.sets.insert(options.sets.end(), more.begin(), more.end());
  return options;
}

// What an index says of every entry, but for where its bytes lie.
std::set<std::string> EntriesOnly(const TrainRig& rig, int64_t step) {
  std::set<std::string> entries;
  Json index = IndexOf(rig, step);
  for (Json& tensor : index["tensors"]) {
    tensor.erase("boxes");
    entries.insert(tensor.dump());
  }
  return entries;
}

int64_t Product(const Json& shape) {
  int64_t product = 1;
  for (const Json& dim : shape) product *= dim.get<int64_t>();
  return product;
}

// Elements of all boxes, which must be those of all tensors.
void ExpectEveryElementOnce(const TrainRig& rig, int64_t step,
                            size_t least_files) {
  int64_t elements = 0, covered = 0;
  std::set<std::string> files;
  const Json index = IndexOf(rig, step);
  for (const Json& tensor : index["tensors"]) {
    if (tensor["kind"] != "tensor") continue;
    elements += Product(tensor["shape"]);
    for (const Json& box : tensor["boxes"]) {
      covered += Product(box["shape"]);
      files.insert(box["file"]);
    }
  }
  EXPECT_GT(elements, 3 * 20000);
  EXPECT_EQ(covered, elements);
  EXPECT_GE(files.size(), least_files);
}

// Moments of whole shards were missing when the number of nodes changed
// (ServiceNow/Fast-LLM#436); a converted checkpoint trained as if from scratch
// (deepspeedai/DeepSpeed#6691, deepspeedai/DeepSpeed#5405); a list that differs
// by rank was stored as if it did not (radixark/Megatron-LM#66); the padding of
// a vocabulary, which depends on the layout, got into checkpoints
// (hpcaitech/ColossalAI#6167, NVIDIA-NeMo/Megatron-Bridge#5353,
// bigscience-workshop/Megatron-DeepSpeed#255). A run of 301 tokens goes on on
// another layout after every step: each checkpoint has the entries of the one
// that a single rank wrote, and the last one its bytes.
TEST(ReshardCaseTest, EveryCheckpointOfAWanderingRunIsThatOfOneRank) {
  const std::string recipe = SmallRecipe("wander", 60);
  const TrainRig one = SmallRig("wander_one"), rig = SmallRig("wander");
  const std::string unseed = one.Unseed(On(recipe, 1, 1, 1));
  const std::vector<RigOptions> layouts = {
      On(recipe, 3, 1, 1, {"batch.micro=1"}),
      On(recipe, 2, 1, 2),
      On(recipe, 1, 1, 4, {"parallel.sequence=true"}),
      On(recipe, 4, 1, 1, {"batch.micro=1"}),
      On(recipe, 1, 4, 2),
      On(recipe, 1, 2, 1, {"parallel.interleave=2"}),
      On(recipe, 2, 2, 2, {"parallel.sequence=true"}),
      On(recipe, 1, 1, 1)};
  int64_t step = 0;
  for (RigOptions layout : layouts) {
    layout.until = ++step;
    const std::string got = rig.Unseed(layout);
    EXPECT_EQ(EntriesOnly(rig, step), EntriesOnly(one, step)) << step;
    ExpectEveryElementOnce(rig, step, layout.ranks > 1 ? 2 : 1);
    if (step == 8) {
      EXPECT_EQ(got, unseed);
    }
  }
  EXPECT_TRUE(SameLines(rig.Metrics(), one.Metrics()));
  int64_t compared = 0;
  for (const auto& [name, entry] : EntriesOf(one, 8)) {
    if (Json::parse(entry)["kind"] != "tensor") continue;
    EXPECT_EQ(EntryBytes(rig, 8, name), EntryBytes(one, 8, name)) << name;
    ++compared;
  }
  EXPECT_GT(compared, 60);
  const Json head =
      Json::parse(EntriesOf(rig, 7).at("parameters/lm_head.weight.master"));
  EXPECT_EQ(head["shape"], Json::parse("[301,32]"));
}

// Each rank drew its slice with the same seed, so that slices were equal and
// another degree began elsewhere (NVIDIA-NeMo/Speech#12210,
// modelscope/ms-swift#7944). First weights are a function of seed, tensor and
// place: a first step is the same on every layout, and no two slices are.
TEST(ReshardCaseTest, FirstWeightsDoNotKnowTheLayout) {
  const std::string recipe = SmallRecipe("first", 60);
  const TrainRig one = SmallRig("first_one");
  RigOptions options = On(recipe, 1, 1, 1);
  options.until = 1;
  one.Unseed(options);
  for (const int tensor : {2, 4}) {
    const TrainRig rig = SmallRig(absl::StrCat("first", tensor));
    options = On(recipe, 1, 1, tensor);
    options.until = 1;
    rig.Unseed(options);
    EXPECT_EQ(EntriesOnly(rig, 1), EntriesOnly(one, 1)) << tensor;
  }
  std::set<std::string> slices;
  int64_t cut = 0;
  for (const auto& [name, entry] : EntriesOf(one, 1)) {
    if (!absl::EndsWith(name, "proj.weight.master")) continue;
    const std::string bytes = EntryBytes(one, 1, name);
    for (size_t s = 0; s < 4; ++s, ++cut) {
      slices.insert(bytes.substr(s * bytes.size() / 4, bytes.size() / 4));
    }
  }
  EXPECT_GE(cut, 40);
  EXPECT_EQ(slices.size(), static_cast<size_t>(cut));
}

// Half of rank 2's shard of a step; its file's name.
std::string DamageShard(const TrainRig& rig, int64_t step) {
  const std::string folder =
      absl::StrCat("checkpoints/step_0000000", step, "/");
  std::set<std::string> files;
  const Json index = IndexOf(rig, step);
  for (const Json& tensor : index["tensors"]) {
    for (const Json& box : tensor["boxes"]) files.insert(box["file"]);
  }
  EXPECT_EQ(files.size(), 4u);
  const std::string file = *std::next(files.begin(), 2);
  const std::string bytes = rig.Read(folder + file);
  rig.Write(folder + file, bytes.substr(0, bytes.size() / 2));
  return file;
}

// One rank could not read its shard; its error was not printed, and the others
// waited in a barrier (NVIDIA/Megatron-LM#367). A checkpoint of which rank 2's
// shard is damaged is passed over for one that is whole; without one the run
// does not begin anew, the file is named and nobody waits.
TEST(ReshardCaseTest, AnUnreadableShardIsNamedAndEndsAllRanks) {
  const RigOptions options =
      On(SmallRecipe("shard", 60), 4, 1, 1, {"batch.micro=1"});
  const TrainRig unbroken = SmallRig("shard_unbroken");
  const std::string unseed = unbroken.Unseed(options);
  for (const int64_t saved : {2, 1}) {
    const TrainRig rig = SmallRig("shard");
    RigOptions stopped = options;
    stopped.until = saved;
    rig.Unseed(stopped);
    const std::string file = DamageShard(rig, saved);
    const RigResult result = rig.Train(options);
    if (saved == 2) {
      EXPECT_EQ(result.unseed, unseed) << result.status.message();
      EXPECT_TRUE(SameLines(rig.Metrics(), unbroken.Metrics()));
    } else {
      EXPECT_EQ(ExitCodeFor(result.status), 4) << result.status.message();
      EXPECT_TRUE(absl::StrContains(result.status.message(), file))
          << result.status.message();
    }
  }
}

}  // namespace
}  // namespace lockstep
