// The gradient's norm and its clipping, on whole runs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

std::vector<float> FirstMoments(const TrainRig& rig) {
  std::vector<float> all;
  const auto entries = EntriesOf(rig, 1);
  for (const auto& [name, entry] : entries) {
    if (!absl::EndsWith(name, ".exp_avg")) continue;
    const std::string bytes = EntryBytes(rig, 1, name);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// The factor was not applied on one path (deepspeedai/DeepSpeed#5150,
// deepspeedai/DeepSpeed#7220); or it was, and the log showed the norm before
// it, so that people thought it was not (huggingface/accelerate#3807). Both
// norms are logged, and every first moment has the factor in it.
TEST(NormCaseTest, BothNormsAreLoggedAndEveryGradientIsScaled) {
  const RigOptions free = {.recipe = SmallRecipe("clip", 24),
                           .sets = {"optimizer.clip=0"},
                           .steps = 8,
                           .until = 1};
  const TrainRig unclipped = SmallRig("clip_none");
  unclipped.Unseed(free);
  const Json before = Lines(unclipped)[0];
  const double norm = before["grad_norm"];
  EXPECT_EQ(before["grad_norm_clipped_bits"], before["grad_norm_bits"]);
  const std::vector<float> want = FirstMoments(unclipped);
  for (const double share : {0.5, 0.2, 0.01}) {
    RigOptions options = free;
    options.sets = {absl::StrCat("optimizer.clip=", share * norm)};
    const TrainRig rig = SmallRig(absl::StrCat("clip", share));
    rig.Unseed(options);
    const Json line = Lines(rig)[0];
    EXPECT_EQ(line["grad_norm_bits"], before["grad_norm_bits"]);
    // Clipped: limit / (norm + 1e-6) times the norm; six digits of the limit
    // were given.
    const double clipped = line["grad_norm_clipped"];
    EXPECT_NEAR(clipped, share * norm,
                share * norm * 2e-6 / norm + 1e-5 * norm * share);
    const double factor = clipped / norm;
    const std::vector<float> got = FirstMoments(rig);
    ASSERT_EQ(got.size(), want.size());
    ASSERT_GT(got.size(), 20000u);
    int64_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      // Factor, product and moment are rounded once each, on both sides.
      const double tolerance =
          std::abs(want[i] * factor) * 4 * 0x1p-24 + 0x1p-126;
      wrong += std::abs(got[i] - want[i] * factor) <= tolerance ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << "of " << got.size() << " at " << share;
  }
}

// A limit above every norm is no limit, to the bit.
TEST(NormCaseTest, ALimitThatIsNotReachedChangesNothing) {
  RigOptions options = {.recipe = SmallRecipe("unreached", 24),
                        .sets = {"optimizer.clip=0"},
                        .steps = 6};
  const TrainRig none = SmallRig("unreached_none"),
                 high = SmallRig("unreached");
  const std::string unseed = none.Unseed(options);
  options.sets = {"optimizer.clip=1000"};
  EXPECT_EQ(high.Unseed(options), unseed);
  EXPECT_TRUE(SameLines(high.Metrics(), none.Metrics()));
}

// A head was left out of checkpoints since the recipe said "tied", though it
// was not (NVIDIA-NeMo/Automodel#2571). Tying is not built and is refused; the
// head and the embedding are two tensors of every checkpoint.
TEST(NormCaseTest, ATiedHeadIsRefusedAndAFreeOneIsSaved) {
  const TrainRig rig = SmallRig("tied");
  RigOptions options = {.recipe = SmallRecipe("tied", 24),
                        .sets = {"model.tie=true"},
                        .steps = 8,
                        .until = 2};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  EXPECT_TRUE(absl::StrContains(result.status.message(), "model.tie"));
  options.sets = {};
  rig.Unseed(options);
  const std::string head =
      EntryBytes(rig, 2, "parameters/lm_head.weight.master");
  const std::string table =
      EntryBytes(rig, 2, "parameters/backbone.embeddings.weight.master");
  EXPECT_EQ(head.size(), 257u * 32 * sizeof(float));
  EXPECT_EQ(head.size(), table.size());
  EXPECT_NE(head, table);
}

}  // namespace
}  // namespace lockstep
