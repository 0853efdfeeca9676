// AdamW, clipping and every schedule against PyTorch's float64 AdamW and the
// formulas in Python, which agree with megatron-core's scheduler.
#include <gtest/gtest.h>

#include <cmath>

#include "determinism/float_env.h"
#include "model/optimizer.h"
#include "model/schedule.h"
#include "tests/golden/golden_file.h"

namespace lockstep {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;

std::vector<ParameterSpec> TwoTensors() {
  return {{.name = "matrix", .shape = {7, 5}, .decay = true, .index = 0},
          {.name = "vector", .shape = {11}, .index = 1}};
}

// Row `step` of a golden tensor [steps, ...].
std::vector<double> Row(const GoldenTensor& tensor, int64_t step) {
  const auto size =
      static_cast<int64_t>(tensor.values.size()) / tensor.shape[0];
  const auto first = tensor.values.begin() + step * size;
  return std::vector<double>(first, first + size);
}

class OptimizerGoldenTest : public testing::Test {
 protected:
  void CopyTo(const std::vector<double>& values, float* out) {
    for (size_t i = 0; i < values.size(); ++i) {
      out[i] = static_cast<float>(values[i]);
    }
  }

  ScopedFloatEnv float_env_;
  GoldenFile file_{"adamw.safetensors"};
  Device device_{2, BestIsa()};
  OperationHooks hooks_;
  StateRegistry registry_;
  ParameterStore store_{registry_, device_, TwoTensors()};
  Optimizer optimizer_{
      registry_,
      device_,
      store_,
      {.betas = {0.9, 0.95}, .eps = 1e-8, .weight_decay = 0.1, .clip = 1.0}};
};

TEST_F(OptimizerGoldenTest, TwentyStepsMeetTorch) {
  for (Parameter& p : store_.all()) {
    CopyTo(file_.Get("adamw/start/" + p.spec.name).values, p.master);
  }
  const GoldenTensor norms = file_.Get("adamw/norm");
  const GoldenTensor rates = file_.Get("adamw/rate");
  const StepContext context = {.device = device_, .hooks = hooks_};
  for (int64_t step = 0; step < 20; ++step) {
    for (Parameter& p : store_.all()) {
      CopyTo(Row(file_.Get("adamw/grad/" + p.spec.name), step), p.grad);
    }
    optimizer_.FinaliseGradients(context, 1.0);
    const double norm = optimizer_.GradientNorm();
    // Squares of fp32 are summed exactly; only the last roundings remain.
    EXPECT_NEAR(norm, norms.values[static_cast<size_t>(step)],
                4 * 0x1p-53 * norm);
    optimizer_.Update(context, rates.values[static_cast<size_t>(step)],
                      optimizer_.ClipFactor(norm));
    for (const Parameter& p : store_.all()) {
      const auto golden = Row(file_.Get("adamw/param/" + p.spec.name), step);
      const Deviation deviation = Compare(p.master, golden);
      // A dozen roundings a step, steps adding up.
      EXPECT_LE(deviation.relative(),
                12 * kUnitRoundoff * static_cast<double>(step + 1))
          << p.spec.name << " after step " << step + 1;
    }
  }
  EXPECT_EQ(optimizer_.updates(), 20);
}

TEST_F(OptimizerGoldenTest, BothNormsOfClippingAreRight) {
  // A norm of 5 clipped at 1 leaves gradients times 0.2
  // (deepspeedai/DeepSpeed#5150: the factor not applied on one path).
  for (Parameter& p : store_.all()) {
    std::fill_n(p.grad, p.spec.count(), 0.0f);
  }
  store_.Get("matrix").grad[3] = 3.0f;
  store_.Get("vector").grad[5] = 4.0f;
  EXPECT_EQ(optimizer_.GradientNorm(), 5.0);
  EXPECT_NEAR(optimizer_.ClipFactor(5.0), 0.2, 1e-7);
  EXPECT_EQ(optimizer_.ClipFactor(0.5), 1.0);
}

TEST(ScheduleGoldenTest, EveryShapeMeetsItsFormula) {
  const GoldenFile file("adamw.safetensors");
  const auto scalar = [&](const char* name) {
    return file.Get(std::string("schedule/") + name).values[0];
  };
  const GoldenTensor samples = file.Get("schedule/samples");
  for (const char* shape : {"cosine", "wsd_linear", "wsd_cosine",
                            "wsd_exponential", "wsd_minus_sqrt"}) {
    const Schedule schedule = {
        .shape = shape,
        .max_lr = scalar("max"),
        .init_lr = scalar("init"),
        .min_lr = scalar("min"),
        .warmup_samples = static_cast<int64_t>(scalar("warmup")),
        .decay_samples = static_cast<int64_t>(scalar("decay")),
        .length_samples = static_cast<int64_t>(scalar("total"))};
    const GoldenTensor rates = file.Get(std::string("schedule/rate/") + shape);
    ASSERT_EQ(rates.values.size(), samples.values.size());
    for (size_t i = 0; i < rates.values.size(); ++i) {
      const auto n = static_cast<int64_t>(samples.values[i]);
      EXPECT_NEAR(schedule.At(n), rates.values[i], 8 * 0x1p-53 * 4.5e-4)
          << shape << " at " << n;
    }
  }
}

}  // namespace
}  // namespace lockstep
