// `ckpt reshard` against the layouts of real runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/verify.h"
#include "determinism/file_system.h"
#include "tests/cases/small_run.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

struct Layout {
  int data, tensor, pipeline, interleave;
  std::string Text() const {
    return absl::StrCat("data=", data, ",tensor=", tensor,
                        ",pipeline=", pipeline, ",interleave=", interleave);
  }
};

RigOptions On(const std::string& recipe, const Layout& layout) {
  return {
      .recipe = recipe,
      .sets = {"guarantee=layout_invariant", "model.vocab=301", "batch.micro=1",
               "schedule.warmup=1", absl::StrCat("parallel.data=", layout.data),
               absl::StrCat("parallel.tensor=", layout.tensor),
               absl::StrCat("parallel.pipeline=", layout.pipeline),
               absl::StrCat("parallel.interleave=", layout.interleave)},
      .steps = 4,
      .threads = 1,
      .ranks = layout.data * layout.tensor * layout.pipeline,
      .until = 2};
}

CheckpointIndex IndexAt(const std::string& dir) {
  const auto index = ReadIndex(*PosixFileSystem(), dir);
  EXPECT_TRUE(index.ok()) << index.status();
  return *index;
}

// Every box with its place and its bytes' hash, but for the names of runs.
std::vector<std::string> BoxesOf(const CheckpointIndex& index) {
  std::vector<std::string> boxes;
  for (const IndexTensor& t : index.tensors) {
    for (const IndexBox& b : t.boxes) {
      std::string text = absl::StrCat(t.name, " ", b.file, " ", b.tree.root);
      for (const int64_t at : b.start) absl::StrAppend(&text, " ", at);
      for (const int64_t size : b.shape) absl::StrAppend(&text, "+", size);
      boxes.push_back(text);
    }
  }
  return boxes;
}

// What a layout's ranks save and what is written for them offline are the same
// boxes with the same bytes, in the same files; and the run goes on from it.
TEST(ReshardRunTest, OfflineIsWhatTheLayoutItselfSaves) {
  const std::string recipe = SmallRecipe("offline", 60);
  const TrainRig one = SmallRig("offline_one");
  one.Unseed(On(recipe, {1, 1, 1, 1}));
  const std::string original = one.dir() + "/checkpoints/step_00000002";
  RigOptions whole = On(recipe, {1, 1, 1, 1});
  whole.until = {};
  const TrainRig straight = SmallRig("offline_straight");
  const std::string unseed = straight.Unseed(whole);
  size_t boxes = 0;
  int number = 0;
  for (const Layout& layout :
       {Layout{3, 1, 1, 1}, Layout{2, 2, 1, 1}, Layout{1, 4, 1, 1},
        Layout{1, 1, 2, 2}, Layout{2, 2, 2, 1}}) {
    const TrainRig rig = SmallRig(absl::StrCat("offline", number));
    rig.Unseed(On(recipe, layout));
    const std::string output =
        absl::StrCat(testing::TempDir(), "/offline_out", number++);
    const auto answer = CkptReshardVerb(
        {.path = original, .layout = layout.Text(), .output = output});
    ASSERT_TRUE(answer.ok()) << answer.status();
    const CheckpointIndex made = IndexAt(output);
    const CheckpointIndex saved =
        IndexAt(rig.dir() + "/checkpoints/step_00000002");
    EXPECT_EQ(BoxesOf(made), BoxesOf(saved)) << layout.Text();
    EXPECT_EQ(made.state_fingerprint, saved.state_fingerprint);
    boxes += BoxesOf(made).size();
    EXPECT_TRUE(VerifyCheckpoint(*PosixFileSystem(), output)->ok);

    RigOptions on = On(recipe, layout);
    on.until = {};
    on.resume = output;
    EXPECT_EQ(one.Unseed(on), unseed) << layout.Text();
    EXPECT_TRUE(SameLines(one.Metrics(), straight.Metrics()));
  }
  EXPECT_GT(boxes, 1000u);
}

TEST(ReshardRunTest, EqualToTheOriginalByDiff) {
  const TrainRig rig = SmallRig("diffed");
  rig.Unseed(On(SmallRecipe("diffed", 60), {2, 1, 1, 1}));
  const std::string output = testing::TempDir() + "/diffed_out";
  ASSERT_TRUE(CkptReshardVerb(
                  {.path = rig.dir(), .layout = "tensor=4", .output = output})
                  .ok());
  const auto equal = CkptDiffVerb({.path = rig.dir(), .other = output});
  ASSERT_TRUE(equal.ok()) << equal.status();
  EXPECT_FALSE(equal->negative) << equal->text;
  // Another step is another state.
  rig.Unseed([&] {
    RigOptions next = On(SmallRecipe("diffed", 60), {2, 1, 1, 1});
    next.until = 3;
    return next;
  }());
  const auto other =
      CkptDiffVerb({.path = rig.dir(), .other = output, .json = true});
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_TRUE(other->negative);
  const auto json = nlohmann::json::parse(other->text);
  EXPECT_GT(json["differences"].size(), 60u);
}

}  // namespace
}  // namespace lockstep
