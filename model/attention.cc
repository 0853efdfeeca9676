// The attention mixer: fused q, k, v projection, causal grouped-query
// attention, o projection (MODEL 2.4; no positional encoding).
//
// q, k and v lie back to back in the parameter arena, so they are one
// projection whose input gradient is one product over its three parts (N4).
#include "model/kernels/attention/attention.h"

#include "model/linear.h"
#include "model/mixer.h"
#include "model/observe.h"

namespace lockstep {
namespace {

struct AttentionSaved : MixerSaved {
  AttentionSaved(Tensor qkv, Tensor o, Tensor lse)
      : qkv_RC(std::move(qkv)), o_RC(std::move(o)), lse_BHT(std::move(lse)) {}
  Tensor qkv_RC;   // [rows, q | k | v]
  Tensor o_RC;     // [rows, heads * head_dim]
  Tensor lse_BHT;  // log of the softmax's sum, fp32
};

class AttentionMixer : public Mixer {
 public:
  AttentionMixer(const ModelConfig& config, int64_t layer,
                 ParameterStore& store)
      : config_(config),
        scope_(MixerScope(layer)),
        qkv_(FusedWeight(MixerParameter(store, layer, "q_proj.weight"),
                         MixerParameter(store, layer, "v_proj.weight"))),
        o_(WeightOf(MixerParameter(store, layer, "o_proj.weight"))) {}

  std::unique_ptr<MixerSaved> Forward(const StepContext& context,
                                      const Tensor& h_RD,
                                      Tensor& y_RD) override {
    Device& device = context.device;
    const int64_t rows = context.rows();
    Tensor qkv = Tensor::Uninit(device, qkv_.dtype, {rows, qkv_.out});
    Tensor o = Tensor::Uninit(device, qkv_.dtype, {rows, o_.in});
    Tensor lse = Tensor::Uninit(
        device, DType::kF32, {context.samples, config_.heads, context.tokens});
    LinearForward(context, {scope_, "qkv_proj"}, qkv_, h_RD.raw(), qkv.raw());
    AttentionForward(device, Shape(context), Inputs(context, qkv), o.raw(),
                     o_.in, lse.data<float>());
    Observe(context, {scope_, "attention"}, {Ref("qkv", qkv)},
            {Ref("o", o), Ref("lse", lse)});
    LinearForward(context, {scope_, "o_proj"}, o_, o.raw(), y_RD.raw());
    return std::make_unique<AttentionSaved>(std::move(qkv), std::move(o),
                                            std::move(lse));
  }

  void Backward(const StepContext& context, const Tensor& h_RD,
                const MixerSaved& saved_base, const Tensor& dy_RD,
                Tensor& dh_RD) override {
    const auto& saved = static_cast<const AttentionSaved&>(saved_base);
    Device& device = context.device;
    const int64_t rows = context.rows();
    Tensor d_o = Tensor::Uninit(device, o_.dtype, {rows, o_.in});
    Tensor dqkv = Tensor::Uninit(device, o_.dtype, {rows, qkv_.out});
    LinearBackward(context, {scope_, "o_proj"}, o_, saved.o_RC.raw(),
                   dy_RD.raw(), d_o.raw());
    AttentionBackward(device, Shape(context), Inputs(context, saved.qkv_RC),
                      saved.o_RC.raw(), o_.in, saved.lse_BHT.data<float>(),
                      d_o.raw(), o_.in, Gradients(dqkv));
    Observe(context, {scope_, "attention"},
            {Ref("do", d_o), Ref("qkv", saved.qkv_RC), Ref("o", saved.o_RC)},
            {Ref("dqkv", dqkv)});
    LinearBackward(context, {scope_, "qkv_proj"}, qkv_, h_RD.raw(), dqkv.raw(),
                   dh_RD.raw());
  }

 private:
  AttentionShape Shape(const StepContext& context) const {
    return {context.samples,  context.tokens,   config_.heads,
            config_.kv_heads, config_.head_dim, config_.key_block};
  }
  char* Column(const Tensor& qkv, int64_t column) const {
    return static_cast<char*>(const_cast<void*>(qkv.raw())) +
           column * static_cast<int64_t>(SizeOf(qkv.dtype()));
  }
  AttentionInputs Inputs(const StepContext& context, const Tensor& qkv) const {
    const int64_t k = config_.q_rows(), v = k + config_.kv_rows();
    return {qkv.dtype(), Column(qkv, 0), qkv_.out, Column(qkv, k),
            qkv_.out,    Column(qkv, v), qkv_.out, context.segments};
  }
  AttentionGradients Gradients(const Tensor& dqkv) const {
    const int64_t k = config_.q_rows(), v = k + config_.kv_rows();
    return {Column(dqkv, 0), qkv_.out,        Column(dqkv, k),
            qkv_.out,        Column(dqkv, v), qkv_.out};
  }

  ModelConfig config_;
  std::string scope_;
  LinearWeight qkv_;
  LinearWeight o_;
};

}  // namespace

std::unique_ptr<Mixer> MakeAttention(const ModelConfig& config, int64_t layer,
                                     ParameterStore& store) {
  return std::make_unique<AttentionMixer>(config, layer, store);
}

}  // namespace lockstep
