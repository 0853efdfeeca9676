// The golden model with its weights and batch, on some threads.
//
// What it is: a stage whose weights are tests/oracle/golden/hybrid_dense and
// whose tokens are those of one golden file. What it is not: a trainer. Why so:
// every comparison of a whole model begins with the same set-up.
#ifndef LOCKSTEP_TESTS_GOLDEN_GOLDEN_MODEL_H_
#define LOCKSTEP_TESTS_GOLDEN_GOLDEN_MODEL_H_

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "determinism/float_env.h"
#include "model/stage.h"
#include "tests/golden/golden_file.h"

namespace lockstep {

inline constexpr double kUnitRoundoff = 0x1p-24;

inline ModelConfig ReadConfig() {
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

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_GOLDEN_GOLDEN_MODEL_H_
