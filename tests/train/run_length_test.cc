// A run's length in steps, samples or tokens: one of them, and the same run.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

// The rig sets no steps over the recipe's own length.
RigOptions WithLength(const std::string& name, const std::string& length) {
  return {.recipe =
              WriteRecipe(name, absl::StrCat("sequence = ", kSequence,
                                             "\nvalidation_fraction = 0.01\n",
                                             Source(WriteSource(name, 40)),
                                             "[train]\n", length))};
}

TEST(RunLengthTest, SamplesAndTokensAreRoundedUpToSteps) {
  for (const char* length :
       {"samples = 41\n", "samples = 48\n", "tokens = 1281\n"}) {
    SCOPED_TRACE(length);
    const TrainRig rig("length", TrainRig::kAsShipped);
    rig.Unseed(WithLength("length", length));
    EXPECT_EQ(rig.Metrics().size(), 6u);
  }
}

constexpr char kOne[] =
    "give one of train.steps, train.samples and train.tokens";

TEST(RunLengthTest, NoneIsRefusedByName) {
  std::string text = *PosixFileSystem()->ReadFile("recipes/debug.toml");
  const size_t at = text.find("steps = 20\n");
  ASSERT_NE(at, std::string::npos);
  const std::string path = testing::TempDir() + "/endless.toml";
  ASSERT_TRUE(
      WriteFileAtomically(*PosixFileSystem(), path, text.erase(at, 11)).ok());
  const TrainRig rig("endless", TrainRig::kAsShipped);
  const RigResult refused = rig.Train({.recipe = path});
  EXPECT_EQ(ExitCodeFor(refused.status), 2);
  EXPECT_TRUE(absl::StrContains(refused.status.message(), kOne))
      << refused.status.message();
  // A length that a launch sets is one.
  RigOptions options = {.recipe = path, .sets = {"train.tokens=2000"}};
  rig.Unseed(options);
  EXPECT_EQ(rig.Metrics().size(), 4u);
}

TEST(RunLengthTest, MoreThanOneIsRefusedByName) {
  for (const char* length :
       {"steps = 5\ntokens = 1000\n", "samples = 5\ntokens = 9\n",
        "steps = 5\nsamples = 9\ntokens = 9\n"}) {
    SCOPED_TRACE(length);
    const TrainRig rig("lengths", TrainRig::kAsShipped);
    const RigResult refused = rig.Train(WithLength("lengths", length));
    EXPECT_EQ(ExitCodeFor(refused.status), 2);
    EXPECT_TRUE(absl::StrContains(refused.status.message(), kOne))
        << refused.status.message();
  }
}

}  // namespace
}  // namespace lockstep
