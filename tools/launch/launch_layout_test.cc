// The smaller layout that a launcher takes is the one that `plan` would.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "recipes/recipe.h"
#include "tools/launch/launch_for_test.h"
#include "tools/layout_check.h"
#include "tools/plan/plan.h"
#include "tools/run_config.h"

namespace lockstep {
namespace {

constexpr int64_t kReplicas = 4;

RunConfig Config(const std::string& rung, int64_t tensor, int64_t pipeline) {
  auto loaded =
      Recipe::Load(*PosixFileSystem(), "recipes/debug.toml",
                   {absl::StrCat("guarantee=", rung), "batch.global=12",
                    "batch.micro=1", absl::StrCat("parallel.tensor=", tensor),
                    absl::StrCat("parallel.pipeline=", pipeline),
                    absl::StrCat("parallel.data=", kReplicas)});
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  auto config = ReadRunConfig(*loaded, std::nullopt);
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

// The replicas of the planner's layout of these degrees; 0: there is none.
int64_t Planned(const RunConfig& config, int64_t slots) {
  const auto layouts = PlanLayouts(config, {.world = slots});
  if (!layouts.ok()) return 0;
  for (const PlannedLayout& l : *layouts) {
    if (l.shape.tensor == config.parallel.tensor && l.interleave == 1 &&
        l.shape.pipeline == config.parallel.pipeline) {
      return l.shape.data;
    }
  }
  return 0;
}

int64_t Launched(const RunConfig& config, int64_t slots) {
  LaunchPolicy policy;
  policy.wanted = {.data = kReplicas,
                   .tensor = config.parallel.tensor,
                   .pipeline = config.parallel.pipeline,
                   .micro_batches = 12};
  policy.fits = [&](const LaunchLayout& layout) {
    RunConfig other = config;
    other.parallel.data = layout.data;
    return LayoutErrors(other).empty();
  };
  LaunchMachine machine(policy);
  machine.Begin(0);
  const Actions actions = machine.HostsSeen(0, {{"a", slots}});
  EXPECT_EQ(actions.size(), 1u);
  return actions[0].kind == Kind::kStart ? actions[0].layout.data : 0;
}

TEST(LaunchLayoutTest, FewerReplicasAreAsManyAsThePlannerTakes) {
  int64_t smaller = 0;
  for (const std::string rung : {"bitwise", "layout_invariant"}) {
    for (const int64_t tensor : {1, 2}) {
      for (const int64_t pipeline : {1, 2}) {
        const RunConfig config = Config(rung, tensor, pipeline);
        for (int64_t slots = 1; slots < kReplicas * tensor * pipeline;
             ++slots) {
          const int64_t data = Launched(config, slots);
          EXPECT_EQ(data, Planned(config, slots))
              << rung << ", tensor " << tensor << ", pipeline " << pipeline
              << ", " << slots << " slots";
          smaller += data > 0 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(smaller, 40);
}

}  // namespace
}  // namespace lockstep
