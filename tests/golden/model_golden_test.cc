// Our fp32 model against a float64 model that others' code differentiates.
//
// tests/oracle/model_fp64.py is written from the equations alone, in the plain
// recurrence form, and PyTorch makes its gradients; the same weights were run
// through transformers' nemotron_h. Ours must meet the first within what
// rounding alone explains, and so lies within that of the second.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/golden/golden_model.h"

namespace lockstep {
namespace {

constexpr char kResetBatch[] = "hybrid_dense_reset.safetensors";

// The worst gradient's deviation from the golden file.
double WorstGradient(GoldenModel& model) {
  double worst = 0;
  int64_t compared = 0;
  for (const Parameter& p : model.store().all()) {
    const GoldenTensor golden = model.file().Get("grads/" + p.spec.name);
    worst = std::max(worst, Compare(p.grad, golden.values).relative());
    compared += static_cast<int64_t>(golden.values.size());
  }
  EXPECT_EQ(compared, model.store().count());
  return worst;
}

double LossSum(const Tensor& loss) {
  double sum = 0;
  for (int64_t i = 0; i < loss.count(); ++i) sum += loss.data<float>()[i];
  return sum;
}

TEST(ModelGoldenTest, LogitsMeetTheFloat64Model) {
  GoldenModel model(DType::kF32);
  const Tensor logits = model.Logits();
  const GoldenTensor golden = model.file().Get("logits");
  const int64_t vocab = model.config().vocab;
  std::vector<float> ours;
  for (int64_t row = 0; row < logits.dim(0); ++row) {
    const float* first = logits.data<float>() + row * logits.dim(1);
    ours.insert(ours.end(), first, first + vocab);
  }
  ASSERT_EQ(ours.size(), golden.values.size());
  const Deviation deviation = Compare(ours.data(), golden.values);
  EXPECT_LE(deviation.relative(), model.Bound()) << "element " << deviation.at;
  RecordProperty("relative", std::to_string(deviation.relative()));
}

TEST(ModelGoldenTest, LossMeetsTheFloat64Model) {
  GoldenModel model(DType::kF32);
  const double ours = LossSum(model.Train());
  const double golden = model.file().Get("loss_sum").values[0];
  EXPECT_NEAR(ours, golden, model.Bound() * golden);
}

TEST(ModelGoldenTest, EveryGradientMeetsTheFloat64Model) {
  GoldenModel model(DType::kF32);
  model.Train();
  int64_t compared = 0;
  for (const Parameter& p : model.store().all()) {
    const GoldenTensor golden = model.file().Get("grads/" + p.spec.name);
    const Deviation deviation = Compare(p.grad, golden.values);
    EXPECT_LE(deviation.relative(), model.Bound())
        << p.spec.name << " element " << deviation.at << ", scale "
        << deviation.scale;
    EXPECT_GT(deviation.scale, 0.0) << p.spec.name << " compares nothing";
    compared += static_cast<int64_t>(golden.values.size());
  }
  EXPECT_EQ(compared, model.store().count());
}

// transformers' own fp32 run of the same weights, as a second witness.
TEST(ModelGoldenTest, GradientsMeetTransformers) {
  GoldenModel model(DType::kF32);
  model.Train();
  const GoldenFile witness("hybrid_dense_transformers.safetensors");
  for (const Parameter& p : model.store().all()) {
    const GoldenTensor golden = witness.Get("grads/" + p.spec.name);
    const Deviation deviation = Compare(p.grad, golden.values);
    EXPECT_LE(deviation.relative(), 2 * model.Bound()) << p.spec.name;
  }
}

// bf16 rounds at 2^-9: the fp32 bound at that roundoff holds for the loss, and
// gradients deviate by more than fp32 ever may, or the mode would not be bf16.
TEST(ModelGoldenTest, Bf16StaysWithinItsRoundoff) {
  GoldenModel model(DType::kBF16);
  const double ours = LossSum(model.Train());
  const double golden = model.file().Get("loss_sum").values[0];
  constexpr double kBf16Roundoff = 0x1p-9;
  EXPECT_NEAR(ours, golden, kBf16Roundoff * 8 * golden);
  const Parameter& head = model.store().Get("lm_head.weight");
  const Deviation deviation =
      Compare(head.grad, model.file().Get("grads/lm_head.weight").values);
  EXPECT_GT(deviation.relative(), model.Bound());
  EXPECT_LE(deviation.relative(),
            model.Bound() / kUnitRoundoff * kBf16Roundoff);
}

// N14: documents that begin inside a convolution's reach of one another, at a
// chunk's first token and in mid-chunk; losses and every gradient. Without the
// resets the same tokens give others.
TEST(ModelGoldenTest, N14ResetsMeetTheFloat64Model) {
  GoldenModel model(DType::kF32, 2, kResetBatch);
  const double golden = model.file().Get("loss_sum").values[0];
  const double without = LossSum(model.Train());
  EXPECT_GT(std::abs(without - golden), model.Bound() * golden);
  EXPECT_GT(WorstGradient(model), model.Bound());
  model.ReadSegments();
  EXPECT_NEAR(LossSum(model.Train()), golden, model.Bound() * golden);
  EXPECT_LE(WorstGradient(model), model.Bound());
}

// A wrong weight must be seen: the comparison can fail.
TEST(ModelGoldenTest, CanaryAWrongWeightIsSeen) {
  GoldenModel model(DType::kF32);
  model.store().Get("backbone.layers.0.mixer.D").master[3] *= 1.01f;
  model.Train();
  EXPECT_GT(WorstGradient(model), model.Bound());
}

}  // namespace
}  // namespace lockstep
