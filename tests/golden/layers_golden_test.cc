// Norms and convolution alone against float64 autograd: a whole model hides a
// wrong epsilon (2e-5 of the logits), a layer by itself does not.
#include <gtest/gtest.h>

#include <cmath>

#include "determinism/float_env.h"
#include "model/device.h"
#include "model/kernels/conv1d_silu/conv1d_silu.h"
#include "model/kernels/gated_norm/gated_norm.h"
#include "model/kernels/rms_norm/rms_norm.h"
#include "tests/golden/golden_file.h"

namespace lockstep {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;
constexpr double kEps = 1e-5;

class LayersGoldenTest : public testing::Test {
 protected:
  std::vector<float> Floats(const std::string& name) {
    const GoldenTensor tensor = file_.Get(name);
    shape_ = tensor.shape;
    return {tensor.values.begin(), tensor.values.end()};
  }
  // Sums of `terms` terms, a handful of roundings each.
  void ExpectMeets(const std::vector<float>& ours, const std::string& name,
                   int64_t terms) {
    const GoldenTensor golden = file_.Get(name);
    ASSERT_EQ(ours.size(), golden.values.size()) << name;
    const Deviation deviation = Compare(ours.data(), golden.values);
    EXPECT_LE(deviation.relative(),
              kUnitRoundoff * 16 * std::sqrt(static_cast<double>(terms)))
        << name << " element " << deviation.at;
  }

  ScopedFloatEnv float_env_;
  GoldenFile file_{"layers.safetensors"};
  Device device_{2, BestIsa()};
  std::vector<int64_t> shape_;
};

TEST_F(LayersGoldenTest, RmsNorm) {
  const auto weight = Floats("rms_norm/in/weight");
  const auto x = Floats("rms_norm/in/x");
  const auto dy = Floats("rms_norm/cotangent");
  const int64_t d = shape_.back();
  const int64_t rows = static_cast<int64_t>(x.size()) / d;
  std::vector<float> y(x.size()), dx(x.size()), rstd(rows), dweight(d);
  RmsNormForward(device_, {.rows = rows,
                           .d = d,
                           .eps = kEps,
                           .dtype = DType::kF32,
                           .x = x.data(),
                           .x_row_stride = d,
                           .weight = weight.data(),
                           .y = y.data(),
                           .y_row_stride = d,
                           .rstd = rstd.data()});
  RmsNormBackward(device_, {.rows = rows,
                            .d = d,
                            .rows_per_leaf = rows,
                            .dtype = DType::kF32,
                            .dy = dy.data(),
                            .dy_row_stride = d,
                            .x = x.data(),
                            .x_row_stride = d,
                            .rstd = rstd.data(),
                            .weight = weight.data(),
                            .dx = dx.data(),
                            .dx_row_stride = d,
                            .dweight = dweight.data()});
  ExpectMeets(y, "rms_norm/out", d);
  ExpectMeets(dx, "rms_norm/grads/x", d);
  ExpectMeets(dweight, "rms_norm/grads/weight", rows);
}

TEST_F(LayersGoldenTest, GatedNorm) {
  const auto weight = Floats("gated_norm/in/weight");
  const auto y = Floats("gated_norm/in/y");
  const auto z = Floats("gated_norm/in/z");
  const auto dout = Floats("gated_norm/cotangent");
  const int64_t d = shape_.back(), groups = d / 32;
  const int64_t rows = static_cast<int64_t>(y.size()) / d;
  std::vector<float> out(y.size()), dy(y.size()), dz(y.size());
  std::vector<float> rstd(rows * groups), dweight(d);
  GatedNormForward(device_, {.rows = rows,
                             .d = d,
                             .groups = groups,
                             .eps = kEps,
                             .dtype = DType::kF32,
                             .y = y.data(),
                             .y_row_stride = d,
                             .z = z.data(),
                             .z_row_stride = d,
                             .weight = weight.data(),
                             .out = out.data(),
                             .out_row_stride = d,
                             .rstd = rstd.data()});
  GatedNormBackward(device_, {.rows = rows,
                              .d = d,
                              .groups = groups,
                              .rows_per_leaf = rows,
                              .dtype = DType::kF32,
                              .dout = dout.data(),
                              .dout_row_stride = d,
                              .y = y.data(),
                              .y_row_stride = d,
                              .z = z.data(),
                              .z_row_stride = d,
                              .rstd = rstd.data(),
                              .weight = weight.data(),
                              .dy = dy.data(),
                              .dy_row_stride = d,
                              .dz = dz.data(),
                              .dz_row_stride = d,
                              .dweight = dweight.data()});
  ExpectMeets(out, "gated_norm/out", d);
  ExpectMeets(dy, "gated_norm/grads/y", d);
  ExpectMeets(dz, "gated_norm/grads/z", d);
  ExpectMeets(dweight, "gated_norm/grads/weight", rows);
}

TEST_F(LayersGoldenTest, Conv1dSilu) {
  const auto weight = Floats("conv_silu/in/weight");
  const auto bias = Floats("conv_silu/in/bias");
  const auto x = Floats("conv_silu/in/x");
  ASSERT_EQ(shape_.size(), 3u);
  const int64_t batch = shape_[0], tokens = shape_[1], channels = shape_[2];
  const auto dy = Floats("conv_silu/cotangent");
  std::vector<float> y(x.size()), dx(x.size());
  std::vector<float> dweight(weight.size()), dbias(bias.size());
  Conv1dSiluForward(device_, {.batch = batch,
                              .tokens = tokens,
                              .channels = channels,
                              .dtype = DType::kF32,
                              .x = x.data(),
                              .x_row_stride = channels,
                              .weight = weight.data(),
                              .bias = bias.data(),
                              .y = y.data(),
                              .y_row_stride = channels});
  Conv1dSiluBackward(device_, {.batch = batch,
                               .tokens = tokens,
                               .channels = channels,
                               .samples_per_leaf = batch,
                               .dtype = DType::kF32,
                               .dy = dy.data(),
                               .dy_row_stride = channels,
                               .x = x.data(),
                               .x_row_stride = channels,
                               .weight = weight.data(),
                               .bias = bias.data(),
                               .dx = dx.data(),
                               .dx_row_stride = channels,
                               .dweight = dweight.data(),
                               .dbias = dbias.data()});
  ExpectMeets(y, "conv_silu/out", 4);
  ExpectMeets(dx, "conv_silu/grads/x", 4);
  ExpectMeets(dweight, "conv_silu/grads/weight", batch * tokens);
  ExpectMeets(dbias, "conv_silu/grads/bias", batch * tokens);
}

}  // namespace
}  // namespace lockstep
