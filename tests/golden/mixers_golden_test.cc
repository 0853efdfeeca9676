// Each mixer alone, forward and backward, against float64 autograd: the model's
// wiring between kernels (columns, strides, leaves) is what these add to the
// kernels' own tests.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "determinism/float_env.h"
#include "model/mixer.h"
#include "tests/golden/golden_file.h"

namespace lockstep {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;

ModelConfig SmallMamba2() {
  ModelConfig c;
  c.pattern = "M";
  c.hidden = 32;
  c.vocab = 32;
  c.mamba_heads = 8;
  c.mamba_head_dim = 8;
  c.groups = 2;
  c.state = 16;
  c.chunk = 32;
  return c;
}

ModelConfig SmallOf(const char* pattern) {
  ModelConfig c;
  c.pattern = pattern;
  c.hidden = 64;
  c.vocab = 32;
  c.ffn = 128;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 16;
  c.key_block = 32;
  return c;
}

class MixersGoldenTest : public testing::Test {
 protected:
  // Runs the only layer of `config` on the golden inputs called `name`.
  void ExpectMixerMeets(const ModelConfig& config, const std::string& name) {
    ParameterStore store(registry_, device_,
                         ListParameters(config, DType::kF32, 1));
    const GoldenTensor u = file_.Get(name + "/in/u");
    const GoldenTensor cotangent = file_.Get(name + "/cotangent");
    LoadWeights(store, name);
    const StepContext context = {.device = device_,
                                 .hooks = hooks_,
                                 .samples = u.shape[0],
                                 .tokens = u.shape[1]};
    Tensor h = Load(u), dy = Load(cotangent);
    Tensor y = Tensor::Uninit(device_, DType::kF32, h.shape());
    Tensor dh = Tensor::Uninit(device_, DType::kF32, h.shape());
    const auto mixer = Make(config, store);
    const auto saved = mixer->Forward(context, h, y);
    mixer->Backward(context.In(Phase::kBackward), h, *saved, dy, dh);
    ExpectMeets(y.data<float>(), name + "/out");
    ExpectMeets(dh.data<float>(), name + "/grads/u");
    ExpectGradientsMeet(store, name);
  }

 private:
  static constexpr std::string_view kPrefix = "backbone.layers.0.mixer.";

  std::unique_ptr<Mixer> Make(const ModelConfig& config,
                              ParameterStore& store) {
    if (config.pattern == "M") return MakeMamba2(config, 0, store);
    if (config.pattern == "*") return MakeAttention(config, 0, store);
    return MakeMlp(0, store);
  }
  Tensor Load(const GoldenTensor& golden) {
    const int64_t rows = golden.shape[0] * golden.shape[1];
    Tensor tensor =
        Tensor::Uninit(device_, DType::kF32, {rows, golden.shape[2]});
    for (size_t i = 0; i < golden.values.size(); ++i) {
      tensor.data<float>()[i] = static_cast<float>(golden.values[i]);
    }
    return tensor;
  }
  void LoadWeights(ParameterStore& store, const std::string& name) {
    for (Parameter& p : store.all()) {
      if (!p.spec.name.starts_with(kPrefix)) continue;
      const GoldenTensor weight =
          file_.Get(name + "/in/" + p.spec.name.substr(kPrefix.size()));
      EXPECT_EQ(weight.shape, p.spec.shape) << p.spec.name;
      for (size_t i = 0; i < weight.values.size(); ++i) {
        p.master[i] = static_cast<float>(weight.values[i]);
      }
    }
    store.ConvertAll();
    store.ZeroGradients();
  }
  void ExpectGradientsMeet(ParameterStore& store, const std::string& name) {
    int compared = 0;
    for (const Parameter& p : store.all()) {
      if (!p.spec.name.starts_with(kPrefix)) continue;
      ExpectMeets(p.grad,
                  name + "/grads/" + p.spec.name.substr(kPrefix.size()));
      ++compared;
    }
    EXPECT_GE(compared, 2);
  }
  // Four stages of sums of up to some hundred terms.
  void ExpectMeets(const float* ours, const std::string& name) {
    const Deviation deviation = Compare(ours, file_.Get(name).values);
    EXPECT_LE(deviation.relative(), kUnitRoundoff * 8 * 4 * std::sqrt(200.0))
        << name << " element " << deviation.at;
    EXPECT_GT(deviation.scale, 0.0) << name << " compares nothing";
  }

  ScopedFloatEnv float_env_;
  GoldenFile file_{"layers.safetensors"};
  Device device_{2, BestIsa()};
  OperationHooks hooks_;
  StateRegistry registry_;
};

TEST_F(MixersGoldenTest, Mamba2) { ExpectMixerMeets(SmallMamba2(), "mamba2"); }
TEST_F(MixersGoldenTest, Attention) {
  ExpectMixerMeets(SmallOf("*"), "attention");
}
TEST_F(MixersGoldenTest, Mlp) { ExpectMixerMeets(SmallOf("-"), "mlp"); }

}  // namespace
}  // namespace lockstep
