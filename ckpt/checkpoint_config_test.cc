// The `checkpoint` section of a recipe.

#include "ckpt/checkpoint_config.h"

#include <gtest/gtest.h>

#include "determinism/status.h"
#include "recipes/recipe.h"

namespace lockstep {
namespace {

absl::Status ConfigStatus(const std::string& text, CheckpointConfig& config) {
  Recipe recipe = *Recipe::FromText(text, "test.toml");
  config = recipe.Read<CheckpointConfig>("checkpoint");
  return recipe.Finish();
}

TEST(Config, KeepZeroIsRefusedAndAsyncIsTheDefault) {
  CheckpointConfig config;
  EXPECT_TRUE(config.async);
  EXPECT_TRUE(
      ConfigStatus("[checkpoint]\nevery = 5\nkeep = 1\nkeep_every = 50\n",
                   config)
          .ok());
  EXPECT_EQ(config.every, 5);
  EXPECT_EQ(config.keep, 1);
  EXPECT_EQ(config.keep_every, 50);
  EXPECT_EQ(ExitCodeFor(ConfigStatus("[checkpoint]\nkeep = 0\n", config)), 2);
  EXPECT_TRUE(ConfigStatus("[checkpoint]\nasync = false\n", config).ok());
  EXPECT_FALSE(config.async);
  EXPECT_EQ(ExitCodeFor(ConfigStatus("[checkpoint]\nevery = -1\n", config)), 2);
}

TEST(Config, NoKeyIsPartOfTheTrajectory) {
  Recipe recipe = *Recipe::FromText("[checkpoint]\nevery = 5\n", "test.toml");
  recipe.Read<CheckpointConfig>("checkpoint");
  ASSERT_TRUE(recipe.Finish().ok());
  EXPECT_EQ(recipe.TrajectoryText(), "");
  EXPECT_NE(recipe.ResolvedText().find("checkpoint.every = 5"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
