// Our fp32 model against a float64 model that others' code differentiates.
//
// tests/oracle/model_fp64.py is written from the equations alone, in the plain
// recurrence form, and PyTorch makes its gradients; the same weights were run
// through transformers' nemotron_h. Ours must meet the first within what
// rounding alone explains, and so lies within that of the second.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "determinism/file_system.h"
#include "determinism/float_env.h"
#include "model/stage.h"
#include "tests/golden/golden_file.h"

namespace lockstep {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;

ModelConfig ReadConfig() {
  const auto text = PosixFileSystem()->ReadFile(
      "tests/oracle/golden/hybrid_dense.config.json");
  LS_CHECK(text.ok());
  const auto j = nlohmann::json::parse(*text);
  ModelConfig c;
  c.pattern = j["pattern"];
  c.hidden = j["hidden"];
  c.vocab = j["vocab"];
  c.ffn = j["ffn"];
  c.heads = j["heads"];
  c.kv_heads = j["kv_heads"];
  c.head_dim = j["head_dim"];
  c.mamba_heads = j["mamba_heads"];
  c.mamba_head_dim = j["mamba_head_dim"];
  c.groups = j["groups"];
  c.state = j["state"];
  c.conv = j["conv"];
  c.chunk = j["chunk"];
  c.norm_eps = j["norm_eps"];
  c.key_block = 32;
  return c;
}

// The golden model with its weights, on some threads.
class GoldenModel {
 public:
  explicit GoldenModel(DType storage, int threads = 2,
                       const std::string& batch = "hybrid_dense.safetensors")
      : config_(ReadConfig()),
        file_(batch),
        device_(threads, BestIsa()),
        store_(registry_, device_, ListParameters(config_, storage, 1)),
        stage_(config_, store_, 1, false) {
    const GoldenFile weights("hybrid_dense.safetensors");
    for (Parameter& p : store_.all()) {
      const GoldenTensor weight = weights.Get("weights/" + p.spec.name);
      EXPECT_EQ(weight.shape, p.spec.shape) << p.spec.name;
      for (size_t i = 0; i < weight.values.size(); ++i) {
        p.master[i] = static_cast<float>(weight.values[i]);
      }
    }
    store_.ConvertAll();
    ReadBatch();
  }

  StepContext Context() {
    return {.device = device_,
            .hooks = hooks_,
            .samples = samples_,
            .tokens = tokens_,
            .segments = segments_.empty() ? nullptr : segments_.data()};
  }
  Tensor Train() {
    const ScopedFloatEnv float_env;
    store_.ZeroGradients();
    return stage_.TrainMicroBatch(
        Context(), {ids_.data(), {labels_.data(), mask_.data()}});
  }
  Tensor Logits() {
    const ScopedFloatEnv float_env;
    return stage_.Logits(Context(), ids_.data());
  }

  // What rounding alone may do over this depth: each layer rounds a handful of
  // times and its sums, of at most `longest` terms, err by the root of that.
  double Bound() const {
    const double layers = static_cast<double>(config_.Layers().size()) + 2;
    const double longest =
        static_cast<double>(std::max(config_.in_proj_rows(), config_.vocab));
    return kUnitRoundoff * 8 * layers * std::sqrt(longest);
  }

  const GoldenFile& file() const { return file_; }
  const ModelConfig& config() const { return config_; }
  ParameterStore& store() { return store_; }
  const std::vector<uint8_t>& mask() const { return mask_; }
  void ReadSegments() {
    for (const double segment : file_.Get("segments").values) {
      segments_.push_back(static_cast<int32_t>(segment));
    }
  }

 private:
  void ReadBatch() {
    const GoldenTensor tokens = file_.Get("tokens");
    const GoldenTensor mask = file_.Get("mask");
    samples_ = tokens.shape[0];
    tokens_ = tokens.shape[1] - 1;
    for (int64_t s = 0; s < samples_; ++s) {
      for (int64_t t = 0; t < tokens_; ++t) {
        const size_t at = static_cast<size_t>(s * (tokens_ + 1) + t);
        ids_.push_back(static_cast<int32_t>(tokens.values[at]));
        labels_.push_back(static_cast<int32_t>(tokens.values[at + 1]));
      }
    }
    for (const double m : mask.values) mask_.push_back(m != 0.0);
  }

  ModelConfig config_;
  GoldenFile file_;
  Device device_;
  OperationHooks hooks_;
  StateRegistry registry_;
  ParameterStore store_;
  Stage stage_;
  int64_t samples_ = 0;
  int64_t tokens_ = 0;
  std::vector<int32_t> ids_;
  std::vector<int32_t> labels_;
  std::vector<uint8_t> mask_;
  std::vector<int32_t> segments_;
};

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
