// N2 between ranks: messages and collectives whose library leaves the float
// environment changed on the thread that called it.
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "determinism/float_env.h"
#include "determinism/operation.h"
#include "tests/layout_matrix/layout_run.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

// What the rank's own thread computes under, after each operation.
class Probe : public OperationObserver {
 public:
  void OnOperation(const OperationEvent&) override {
    ++operations;
    strict += FloatEnvIsStrict() ? 1 : 0;
  }
  int64_t operations = 0, strict = 0;
};

TEST(FloatEnvRanksTest, N2WhatALibraryChangedInAnyCallChangesNothing) {
  const std::string recipe = BlendRecipe();
  for (const MeshShape shape :
       {MeshShape{.data = 1, .pipeline = 2, .tensor = 1},
        MeshShape{.data = 2, .pipeline = 2, .tensor = 2}}) {
    LayoutCase layout = {.shape = shape};
    const LayoutResult want = RunLayout(recipe, layout);
    layout.spoilt = true;
    std::deque<Probe> probes;
    const auto watch = [&](int, Stepper& stepper) {
      probes.emplace_back();
      stepper.AddObserver(&probes.back());
    };
    EXPECT_EQ(RunLayout(recipe, layout, {}, watch), want) << ToString(layout);
    ASSERT_EQ(probes.size(), static_cast<size_t>(shape.world()));
    for (const Probe& probe : probes) {
      EXPECT_GT(probe.operations, 20);
      EXPECT_EQ(probe.strict, probe.operations) << ToString(layout);
    }
  }
}

}  // namespace
}  // namespace lockstep
