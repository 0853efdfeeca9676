// Equal bits would be no parallelism if every rank did all the work: what ranks
// compute, counted by their devices, over all axes together.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "determinism/check.h"
#include "model/config.h"
#include "model/model_layout.h"
#include "parallel/mesh.h"
#include "parallel/replica_share.h"
#include "tests/layout_matrix/layout_run.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

constexpr double kMost = 1.05;  // times the fair share
constexpr int64_t kSamples = 8;
constexpr int64_t kTokens = 16;

ModelConfig Model(const std::string& pattern, int64_t ffn) {
  ModelConfig model;
  model.pattern = pattern;
  model.hidden = 8;
  model.ffn = ffn;
  model.vocab = 512;  // with a grid of four nothing is padded
  model.heads = 4;
  model.kv_heads = 4;
  model.mamba_heads = 4;
  model.state = 16;
  return model;
}

// Of four equal stages, which tensor, pipeline and data degrees up to four
// divide. The head belongs to the last stage and is small beside it.
ModelConfig EvenModel() { return Model("M*-M*-M*-M*-", 6144); }

LayoutCase Case(const ModelConfig& model, const MeshShape& shape) {
  LayoutCase layout;
  layout.shape = shape;
  layout.micro = 1;
  layout.steps = 1;
  layout.sets = {"schedule.warmup=0", "model.pattern=" + model.pattern,
                 "model.hidden=" + std::to_string(model.hidden),
                 "model.ffn=" + std::to_string(model.ffn),
                 "model.vocab=" + std::to_string(model.vocab)};
  return layout;
}

// What each rank's device counted over the step.
std::vector<int64_t> FlopsByRank(const std::string& recipe,
                                 const LayoutCase& layout) {
  std::vector<int64_t> flops(static_cast<size_t>(layout.shape.world()));
  RunLayout(recipe, layout, [&](int rank, Stepper& stepper) {
    flops[static_cast<size_t>(rank)] = stepper.device().flops();
  });
  return flops;
}

std::vector<MeshShape> Shapes(const std::vector<int>& data) {
  std::vector<MeshShape> shapes;
  for (const int d : data) {
    for (const int pipeline : {1, 2, 4}) {
      for (const int tensor : {1, 2, 4}) {
        const MeshShape shape = {d, pipeline, tensor};
        if (shape.world() <= 8) shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

// The part of the whole that belongs to a rank: its stages' cost, of its
// replica's micro-batches, a tensor degree's part of it.
double FairShare(const ModelConfig& model, const MeshShape& shape, int rank) {
  const auto mesh = Mesh::Make(shape, shape.world());
  LS_CHECK(mesh.ok());
  const MeshCoordinate at = mesh->CoordinateOf(rank);
  const std::vector<int64_t> costs = LayerCosts(model, kTokens);
  const auto stages = StagesOf(model, kTokens, shape.pipeline);
  LS_CHECK(stages.ok());
  const StageRange& stage = (*stages)[static_cast<size_t>(at.pipeline)];
  const double own = static_cast<double>(std::accumulate(
      costs.begin() + stage.begin, costs.begin() + stage.end, int64_t{0}));
  const double all = static_cast<double>(
      std::accumulate(costs.begin(), costs.end(), int64_t{0}));
  const auto replica = static_cast<double>(
      ReplicaShareOf(kSamples, shape.data, at.data).micro_batches);
  return own / all * replica / kSamples / shape.tensor;
}

// Where model and batch divide evenly, the fair share is one rank's of all.
TEST(FlopsTest, ARanksShareIsAtMostOneTwentiethAboveAnEqualOne) {
  const std::string recipe = BlendRecipe();
  int64_t compared = 0;
  for (const std::string guarantee : {"layout_invariant", "bitwise"}) {
    const auto run = [&](const MeshShape& shape) {
      LayoutCase layout = Case(EvenModel(), shape);
      layout.sets.push_back("guarantee=" + guarantee);
      layout.sets.push_back(shape.world() % 8 == 0 ? "parallel.sequence=true"
                                                   : "train.recompute=false");
      return FlopsByRank(recipe, layout);
    };
    const auto whole = static_cast<double>(run({1, 1, 1})[0]);
    for (const MeshShape& shape : Shapes({1, 2, 4, 8})) {
      for (const int64_t flops : run(shape)) {
        EXPECT_LE(static_cast<double>(flops) * shape.world(), kMost * whole)
            << ToString(shape) << ", " << guarantee;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 2 * (33 + 34 + 20 + 8));  // data degree 1, 2, 4, 8
}

// Elsewhere it is what its stages cost and its replica has of the batch: no
// rank does work that is not its own.
TEST(FlopsTest, UnevenStagesAndReplicasDoTheirOwnWorkOnly) {
  const std::string recipe = BlendRecipe();
  const ModelConfig model = Model("M-M*-", 64);
  const auto whole =
      static_cast<double>(FlopsByRank(recipe, Case(model, {1, 1, 1}))[0]);
  int64_t compared = 0;
  for (const MeshShape& shape : Shapes({1, 2, 3, 5, 7})) {
    const std::vector<int64_t> flops = FlopsByRank(recipe, Case(model, shape));
    for (size_t rank = 0; rank < flops.size(); ++rank) {
      const double fair = FairShare(model, shape, static_cast<int>(rank));
      EXPECT_LE(static_cast<double>(flops[rank]), kMost * fair * whole)
          << ToString(shape) << ", rank " << rank;
      ++compared;
    }
  }
  EXPECT_GT(compared, 60);
}

}  // namespace
}  // namespace lockstep
