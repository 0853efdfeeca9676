// Resumes that are not exact, as people report them: one thing of the state
// comes back as something else, and every hash holds. bisect is given the run
// that went through and the one that was resumed, and names the entry.
//
// huggingface/transformers#17032, thinking-machines-lab/tinker-feedback#127,
// THUDM/slime#1546, PrimeIntellect-ai/prime-rl#1035. (A master that came back
// otherwise is refused by the load: its run-time weight is not the saved one.)
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "tests/audit/forge_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

struct Case {
  std::string entry;  // whose lowest bit is another after the load
  std::string cause;  // words of what bisect thinks of it
  std::vector<std::string> sets = {};
};

std::vector<Case> Cases() {
  return {{"run/seed", "random stream", {"model.hidden_dropout=0.1"}},
          {"run/update_samples", "a counter"},
          {"run/cursor", "a cursor"},
          {"optimizer/updates", "optimizer state"},
          {"optimizer/backbone.layers.1.mixer.up_proj.weight.exp_avg_sq",
           "optimizer state"},
          {"loss_scaler/scale", "scales", {"precision.mode=fp16"}}};
}

TEST(BisectResumeCaseTest, TheEntryThatCameBackOtherwiseIsNamed) {
  FileSystem& fs = *PosixFileSystem();
  for (const Case& c : Cases()) {
    const TrainRig through("case_through"), resumed("case_resumed");
    RigOptions options = {.sets = c.sets, .threads = 1};
    options.sets.push_back("checkpoint.every=2");
    through.Unseed(options);
    RigOptions half = options;
    half.until = 4;
    resumed.Unseed(half);
    ForgeTensor(resumed.dir() + "/checkpoints/step_00000004", c.entry);
    const RigResult trained = resumed.Train(options);
    ASSERT_TRUE(trained.status.ok())
        << c.entry << ": " << trained.status.message();
    const auto result =
        Bisect(fs, {.a = through.dir(), .b = resumed.dir(), .threads = 1});
    ASSERT_TRUE(result.ok()) << c.entry << ": " << result.status().message();
    EXPECT_EQ(result->verdict, "state_after_load")
        << c.entry << ": " << BisectJson(*result);
    EXPECT_EQ(result->step, 5) << c.entry;
    ASSERT_TRUE(result->state.has_value()) << c.entry;
    EXPECT_EQ(result->state->entry, c.entry);
    EXPECT_EQ(result->state->entries, 1) << c.entry;
    EXPECT_NE(result->cause.find(c.cause), std::string::npos)
        << c.entry << ": " << result->cause;
  }
}

}  // namespace
}  // namespace lockstep
