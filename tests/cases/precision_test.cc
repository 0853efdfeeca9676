// Precision across saving and loading, and weights that must move.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/dtype.h"
#include "tests/cases/small_run.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

std::vector<float> FloatsOf(const TrainRig& rig, int64_t step,
                            const std::string& entry) {
  const std::string bytes = EntryBytes(rig, step, entry);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

// fp32 master weights were saved and came back in bf16
// (NVIDIA/Megatron-LM#1359). Every master and moment of a bf16 run is an F32
// with more bits than bf16 has, and the next step uses them.
TEST(PrecisionCaseTest, MastersKeepAllTheirBits) {
  const RigOptions options = {.recipe = SmallRecipe("masters", 24),
                              .sets = {"precision.mode=bf16"},
                              .steps = 8};
  const TrainRig unbroken = SmallRig("masters_unbroken");
  unbroken.Unseed(options);
  EXPECT_EQ(ExpectUnbroken("masters", options, {3, 5}, unbroken), 8);
  int64_t values = 0, beyond_bf16 = 0, tensors = 0;
  const Json index = IndexOf(unbroken, 8);
  for (const Json& tensor : index["tensors"]) {
    if (tensor["group"] != "master" && tensor["group"] != "moment") continue;
    if (tensor["kind"] != "tensor") continue;
    EXPECT_EQ(tensor["dtype"], "F32") << tensor["name"];
    ++tensors;
    for (const float value : FloatsOf(unbroken, 8, tensor["name"])) {
      beyond_bf16 += ToF32(ToBF16(value)) != value ? 1 : 0;
      ++values;
    }
  }
  EXPECT_GT(tensors, 90);
  EXPECT_GT(beyond_bf16, values * 9 / 10) << values;
}

// Norm weights that begin at 1 never moved in bf16: an update below half a
// spacing is lost without masters, and the option for these was forgotten at a
// resume (NVIDIA/Model-Optimizer#2322, vllm-project/speculators#765).
TEST(PrecisionCaseTest, WeightsThatBeginAtOneMove) {
  EXPECT_EQ(ToF32(ToBF16(1.0f - 0.0019f)), 1.0f);
  EXPECT_EQ(ToF32(ToBF16(1.0f - 0.002f)), 0.99609375f);
  EXPECT_EQ(ToF32(ToBF16(1.0f + 0.0039f)), 1.0f);
  RigOptions options = {.recipe = SmallRecipe("at_one", 24),
                        .sets = {"precision.mode=bf16", "optimizer.lr=1e-3",
                                 "schedule.shape=constant", "schedule.min_lr=0",
                                 "checkpoint.every=25"},
                        .steps = 50};
  const TrainRig rig = SmallRig("at_one");
  options.until = 25;
  rig.Unseed(options);
  options.until.reset();
  rig.Unseed(options);
  int64_t values = 0, narrowed = 0;
  const auto entries = EntriesOf(rig, 50);
  for (const auto& [name, entry] : entries) {
    if (!absl::StrContains(name, "norm") || !absl::EndsWith(name, ".master")) {
      continue;
    }
    const auto early = FloatsOf(rig, 25, name), late = FloatsOf(rig, 50, name);
    ASSERT_EQ(early.size(), late.size());
    for (size_t i = 0; i < late.size(); ++i) {
      EXPECT_NE(early[i], 1.0f) << name << " " << i;
      EXPECT_NE(late[i], early[i]) << name << " " << i;
      narrowed += ToF32(ToBF16(late[i])) == 1.0f ? 1 : 0;
      ++values;
    }
  }
  EXPECT_GT(values, 5 * 32);
  // What the layers use has moved as well, for most.
  EXPECT_LT(narrowed, values / 2);
}

// Scales that did not belong to the loaded weights made the first forward after
// a load another one (NVIDIA/TransformerEngine#567,
// NVIDIA/TransformerEngine#982). There are no 8-bit scales here; the same holds
// of all that is derived from masters: a loaded checkpoint scores what the run
// scored before it saved.
TEST(PrecisionCaseTest, TheFirstForwardAfterALoadIsTheLastBeforeTheSave) {
  int64_t compared = 0;
  for (const char* mode : {"fp32", "bf16", "fp16"}) {
    const std::string name = absl::StrCat("forward_", mode);
    const TrainRig rig = SmallRig(name);
    const RigOptions options = {.recipe = SmallRecipe(name, 24),
                                .sets = {absl::StrCat("precision.mode=", mode),
                                         "eval.every=2", "checkpoint.every=2"},
                                .steps = 6};
    rig.Unseed(options);
    const std::vector<std::string> lines =
        absl::StrSplit(rig.Read("eval.jsonl"), '\n', absl::SkipEmpty());
    ASSERT_EQ(lines.size(), 3u);
    for (const std::string& line : lines) {
      const Json said = Json::parse(line);
      EvalOptions eval;
      eval.run_dir = rig.dir();
      eval.recipe = options.recipe;
      eval.sets = options.sets;
      eval.checkpoint = absl::StrCat(rig.dir(), "/checkpoints/step_0000000",
                                     said["step"].get<int64_t>());
      eval.json = true;
      const auto answer = EvalVerb(eval);
      ASSERT_TRUE(answer.ok()) << std::string(answer.status().message());
      const Json again = Json::parse(answer->text);
      EXPECT_EQ(again["loss_bits"], said["loss_bits"]) << name;
      EXPECT_EQ(again["sources"].at(0)["tokens"], said["tokens"]);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 9);
}

}  // namespace
}  // namespace lockstep
