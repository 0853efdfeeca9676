// Gradients that are reduced while backward goes on: no bit shows when or in
// what company they were sent (N12).
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/cases/small_run.h"
#include "tests/layout_matrix/layout_run.h"

namespace lockstep {
namespace {

using Sets = std::vector<std::string>;

struct Cut {
  int data = 1, pipeline = 1, tensor = 1, interleave = 1;
  bool sequence = false;
};

LayoutCase Case(const Cut& cut, const std::string& guarantee,
                const Sets& more) {
  LayoutCase layout;
  layout.shape = {
      .data = cut.data, .pipeline = cut.pipeline, .tensor = cut.tensor};
  layout.interleave = cut.interleave;
  layout.sets = {
      "guarantee=" + guarantee, "precision.mode=bf16",
      "model.hidden_dropout=0.1",
      absl::StrCat("parallel.sequence=", cut.sequence ? "true" : "false")};
  layout.sets.insert(layout.sets.end(), more.begin(), more.end());
  return layout;
}

// A byte: each tensor goes alone, and from where it lies. Gigabytes: all
// together, when the last one is done.
const Sets kWays[] = {
    {"parallel.overlap=true"},
    {"parallel.overlap=true", "parallel.bucket_bytes=1"},
    {"parallel.overlap=true", "parallel.bucket_bytes=9000"},
    {"parallel.overlap=true", "parallel.bucket_bytes=2000000000"},
    {"parallel.overlap=false", "parallel.bucket_bytes=9000"}};

const Cut kCuts[] = {
    {.data = 2},
    {.data = 3, .pipeline = 2},
    {.data = 2, .pipeline = 2, .interleave = 2},
    {.data = 2, .tensor = 2},
    {.data = 2, .tensor = 2, .sequence = true},
};

class OverlapTest : public testing::TestWithParam<std::string> {};

TEST_P(OverlapTest, N12WhenAndInWhatCompanyDoesNotMatter) {
  const std::string recipe = BlendRecipe();
  for (const Cut& cut : kCuts) {
    const LayoutResult after =
        RunLayout(recipe, Case(cut, GetParam(), {"parallel.overlap=false"}));
    for (const Sets& way : kWays) {
      const LayoutCase layout = Case(cut, GetParam(), way);
      EXPECT_EQ(RunLayout(recipe, layout), after)
          << ToString(layout) << " " << way.back();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rungs, OverlapTest,
                         testing::Values("bitwise", "layout_invariant"),
                         [](const auto& info) { return info.param; });

// N5: a pass whose sums have left the grid is made again; the buckets that it
// has sent are forgotten on every rank. The same on a probe, which step 1 is.
TEST(OverlapTest, N5BucketsOfAPassThatIsMadeAgainAreForgotten) {
  const auto run = [](int64_t ranks, const std::string& overlap) {
    RigOptions options;
    options.recipe = SmallRecipe("overlap_run", 60);
    options.ranks = ranks;
    options.threads = 1;
    options.sets = {"guarantee=layout_invariant", "parallel.overlap=" + overlap,
                    "parallel.bucket_bytes=2000"};
    options.faults = {
        "kind=spike,step=4,when=from,occurrence=all,factor=1000000,"
        "at=layers.1.mixer.down_proj.backward"};
    const TrainRig rig =
        SmallRig(absl::StrCat("overlap_run_", ranks, "_", overlap));
    const std::string unseed = rig.Unseed(options);
    EXPECT_TRUE(absl::StrContains(rig.Read("metrics.jsonl"), "grid_overflow"));
    return unseed;
  };
  const std::string one = run(1, "true");
  EXPECT_EQ(run(2, "true"), one);
  EXPECT_EQ(run(2, "false"), one);
}

}  // namespace
}  // namespace lockstep
