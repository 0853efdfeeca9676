#include "tools/plan/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "recipes/recipe.h"
#include "tools/layout_check.h"

namespace lockstep {
namespace {

RunConfig Config(const std::string& recipe,
                 const std::vector<std::string>& sets = {}) {
  auto loaded = Recipe::Load(*PosixFileSystem(),
                             absl::StrCat("recipes/", recipe, ".toml"), sets);
  EXPECT_TRUE(loaded.ok()) << std::string(loaded.status().message());
  auto config = ReadRunConfig(*loaded, std::nullopt);
  EXPECT_TRUE(config.ok()) << std::string(config.status().message());
  return *config;
}

std::vector<PlannedLayout> Plan(const RunConfig& config,
                                const PlanRequest& request) {
  auto layouts = PlanLayouts(config, request);
  EXPECT_TRUE(layouts.ok()) << std::string(layouts.status().message());
  return *std::move(layouts);
}

const PlannedLayout* Find(const std::vector<PlannedLayout>& layouts, int tensor,
                          int pipeline, int interleave = 1) {
  for (const PlannedLayout& l : layouts) {
    if (l.shape.tensor == tensor && l.shape.pipeline == pipeline &&
        l.interleave == interleave) {
      return &l;
    }
  }
  return nullptr;
}

// A model of 7 billion parameters on hosts of 8, tensor 8 x pipeline 4 x data
// 8: when one of the 32 hosts is gone, 248 ranks are left, and the layout is
// enough for 7 replicas of 32. 24 ranks are idle.
TEST(PlanTest, AHostOf256RanksIsLostAnd224GoOn) {
  const RunConfig config = Config("hybrid_8b_tp4_pp2_dp4",
                                  {"parallel.tensor=8", "parallel.pipeline=4",
                                   "parallel.data=8", "grid.tensor=8"});
  PlanRequest request = {.world = 256, .world_before = 256};
  request.hosts = EvenHosts(256, 8);
  const auto before = Plan(config, request);
  const PlannedLayout* now = Find(before, 8, 4);
  ASSERT_NE(now, nullptr);
  EXPECT_TRUE(now->current);
  EXPECT_EQ(now->shape.data, 8);
  EXPECT_EQ(now->idle, 0);
  // A tensor group fills a host; the other axes go between them.
  EXPECT_EQ(now->crosses,
            (std::vector<MeshAxis>{MeshAxis::kData, MeshAxis::kPipeline}));

  auto left = WithoutHosts(request.hosts, {"host5"});
  ASSERT_TRUE(left.ok());
  request.hosts = *left;
  request.world = SlotsOf(*left);
  EXPECT_EQ(request.world, 248);
  const auto after = Plan(config, request);
  const PlannedLayout* shrunk = Find(after, 8, 4);
  ASSERT_NE(shrunk, nullptr);
  EXPECT_EQ(shrunk->shape.data, 7);
  EXPECT_EQ(shrunk->shape.world(), 224);
  EXPECT_EQ(shrunk->idle, 24);
  EXPECT_EQ(shrunk->keeps, Guarantee::kLayoutInvariant);
  EXPECT_FALSE(shrunk->current);
  EXPECT_LT(shrunk->busy, now->busy);
  // A replica holds what it held, and owns more of the state.
  EXPECT_GT(shrunk->memory.state, now->memory.state);
  EXPECT_EQ(shrunk->memory.activations, now->memory.activations);
}

TEST(PlanTest, EveryLayoutIsOneThatALaunchAdmits) {
  for (const int64_t world : {1, 2, 6, 8, 24}) {
    const RunConfig config = Config("debug");
    std::set<std::string> seen;
    for (const PlannedLayout& l :
         Plan(config, {.world = world, .world_before = world})) {
      RunConfig one = config;
      one.parallel.data = l.shape.data;
      one.parallel.tensor = l.shape.tensor;
      one.parallel.pipeline = l.shape.pipeline;
      one.parallel.interleave = l.interleave;
      EXPECT_TRUE(LayoutErrors(one).empty()) << ToString(l.shape);
      EXPECT_EQ(l.shape.world() + l.idle, world);
      EXPECT_TRUE(
          seen.insert(absl::StrCat(ToString(l.shape), l.interleave)).second);
      EXPECT_GT(l.busy, 0);
      EXPECT_LE(l.busy, 1);
      // One replica more is not admitted, or there are no ranks for it.
      one.parallel.data = l.shape.data + 1;
      EXPECT_TRUE(l.idle < l.shape.tensor * l.shape.pipeline ||
                  !LayoutErrors(one).empty())
          << ToString(l.shape);
    }
    // debug.toml admits tensor 1, 2, 4 and pipelines of 1 to 5 layers.
    if (world == 24) {
      EXPECT_GE(seen.size(), 3u * 5u);
    }
  }
}

TEST(PlanTest, TheRecipesOwnLayoutIsThereWithFewerReplicasToo) {
  const auto layouts =
      Plan(Config("debug", {"parallel.data=2", "parallel.tensor=2"}),
           {.world = 8, .world_before = 8});
  int own = 0;
  for (const PlannedLayout& l : layouts) {
    if (!l.current) continue;
    ++own;
    EXPECT_EQ(l.shape, (MeshShape{.data = 2, .tensor = 2}));
    EXPECT_EQ(l.idle, 4);
    EXPECT_EQ(l.keeps, Guarantee::kBitwise);
  }
  EXPECT_EQ(own, 1);
}

TEST(PlanTest, APatternWithCutsHasThoseStagesOrOne) {
  for (const PlannedLayout& l :
       Plan(Config("debug", {"model.pattern=M-|M*|-M"}),
            {.world = 6, .world_before = 6})) {
    const int stages = l.shape.pipeline * l.interleave;
    EXPECT_TRUE(stages == 1 || stages == 3) << ToString(l.shape);
  }
}

TEST(PlanTest, TheGuaranteeThatAChangeKeepsIsTheResumeTables) {
  const PlanRequest request = {.world = 4, .world_before = 4};
  const auto keeps = [&](const std::string& rung, int tensor) {
    const auto layouts =
        Plan(Config("debug", {absl::StrCat("guarantee=", rung)}), request);
    const PlannedLayout* layout = Find(layouts, tensor, 1);
    EXPECT_NE(layout, nullptr);
    return layout->keeps;
  };
  // The recipe's own has tensor 1 and all ranks as replicas.
  EXPECT_EQ(keeps("bitwise", 1), Guarantee::kBitwise);
  EXPECT_EQ(keeps("bitwise", 2), Guarantee::kStateExact);
  EXPECT_EQ(keeps("layout_invariant", 2), Guarantee::kLayoutInvariant);
  EXPECT_EQ(keeps("state_exact", 2), Guarantee::kStateExact);
  EXPECT_EQ(keeps("statistical", 2), Guarantee::kStatistical);
}

TEST(PlanTest, TheFirstFitsAndWhereNoneFitsTheLeastIsNamed) {
  const RunConfig config = Config("hybrid_100m");
  PlanRequest request = {.world = 8, .world_before = 8};
  const auto any = Plan(config, request);
  EXPECT_EQ(any.front().shape, (MeshShape{.data = 8}));
  double least = any.front().memory.total();
  for (const PlannedLayout& l : any) least = std::min(least, l.memory.total());
  request.memory_bytes = std::floor((least + any.front().memory.total()) / 2);
  const auto some = Plan(config, request);
  EXPECT_EQ(some.size(), any.size());
  EXPECT_LE(some.front().memory.total(), request.memory_bytes);
  EXPECT_GT(some.back().memory.total(), request.memory_bytes);
  request.memory_bytes = least - 1;
  const absl::Status none = PlanLayouts(config, request).status();
  EXPECT_EQ(ExitCodeFor(none), 2);
  EXPECT_TRUE(absl::StrContains(none.message(), "the one that needs least is"))
      << std::string(none.message());
}

TEST(PlanTest, MoreRanksThanMicroBatchesAreIdle) {
  const auto layouts =
      Plan(Config("debug"), {.world = 4096, .world_before = 4096});
  for (const PlannedLayout& l : layouts) {
    EXPECT_LE(l.shape.data, 4) << "batch.global / batch.micro";
    EXPECT_EQ(l.idle, 4096 - l.shape.world());
  }
}

}  // namespace
}  // namespace lockstep
