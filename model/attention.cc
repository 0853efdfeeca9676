// The attention mixer: fused q, k, v projection, causal grouped-query
// attention, o projection (MODEL 2.4; no positional encoding).
//
// q, k and v lie back to back in the parameter arena, so they are one
// projection whose input gradient is one product over its three parts (N4).
// A rank has whole query heads and the key/value heads they read. Where the
// slices are more than the key/value heads, dk and dv of a head are the tree's
// sum over its slices, on this rank and on those with copies of the head.
#include "model/kernels/attention/attention.h"

#include "model/kernels/slice_tree/slice_tree.h"
#include "model/linear.h"
#include "model/mixer.h"
#include "model/observe.h"
#include "model/tensor_cut.h"

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
                 ParameterStore& store, const TensorShare& share)
      : config_(HeldConfig(config, share.degree)),
        scope_(MixerScope(layer)),
        copies_(KeyValueCopies(config, share.degree)),
        kv_slices_(share.slices > config.kv_heads
                       ? share.slices / config.kv_heads / copies_
                       : 0),
        qkv_(FusedWeight(MixerParameter(store, layer, "q_proj.weight"),
                         MixerParameter(store, layer, "v_proj.weight"), share)),
        o_(WeightOf(MixerParameter(store, layer, "o_proj.weight"), share)) {}

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
    Observe(
        context, {scope_, "attention"}, {Cut(Ref("qkv", qkv), 1, qkv_.held)},
        {Cut(Ref("o", o), 1, o_.held), Cut(Ref("lse", lse), 1, HeadsHeld())});
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
    CoreBackward(context, saved, d_o, dqkv);
    Observe(context, {scope_, "attention"},
            {Cut(Ref("do", d_o), 1, o_.held),
             Cut(Ref("qkv", saved.qkv_RC), 1, qkv_.held),
             Cut(Ref("o", saved.o_RC), 1, o_.held)},
            {Cut(Ref("dqkv", dqkv), 1, qkv_.held)});
    LinearBackward(context, {scope_, "qkv_proj"}, qkv_, h_RD.raw(), dqkv.raw(),
                   dh_RD.raw());
  }

 private:
  // The query heads: what out-projection's columns are, by the head.
  HeldDim HeadsHeld() const {
    HeldDim heads = o_.held;
    heads.length /= config_.head_dim;
    for (HeldRange& range : heads.ranges) {
      range.begin /= config_.head_dim;
      range.end /= config_.head_dim;
    }
    return heads;
  }

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

  void CoreBackward(const StepContext& context, const AttentionSaved& saved,
                    const Tensor& d_o, Tensor& dqkv) const {
    const int64_t k = config_.q_rows(), v = k + config_.kv_rows();
    AttentionGradients out = {Column(dqkv, 0), qkv_.out,        Column(dqkv, k),
                              qkv_.out,        Column(dqkv, v), qkv_.out,
                              kv_slices_};
    Tensor sums;  // fp32 [rows, dk | dv of every slice]
    if (kv_slices_ > 0) {
      const int64_t width = config_.kv_rows() * kv_slices_;
      sums = Tensor::Uninit(context.device, DType::kF32,
                            {context.rows(), 2 * width});
      out.dk = Column(sums, 0);
      out.dv = Column(sums, width);
      out.dk_row_stride = out.dv_row_stride = 2 * width;
    }
    AttentionBackward(context.device, Shape(context),
                      Inputs(context, saved.qkv_RC), saved.o_RC.raw(), o_.in,
                      saved.lse_BHT.data<float>(), d_o.raw(), o_.in, out);
    if (kv_slices_ > 0) JoinSlices(context, sums, dqkv);
  }

  // dk and dv of each head from the sums of its slices. They stand side by
  // side in both places, so dv's heads are simply more heads.
  void JoinSlices(const StepContext& context, const Tensor& sums,
                  Tensor& dqkv) const {
    const int64_t heads = 2 * config_.kv_heads, width = config_.head_dim;
    if (copies_ == 1) {
      for (int64_t h = 0; h < heads; ++h) {
        Join(context, sums, kv_slices_, h, dqkv.dtype(),
             Column(dqkv, config_.q_rows() + h * width), qkv_.out);
      }
      return;
    }
    Tensor held = Tensor::Uninit(context.device, DType::kF32,
                                 {context.rows(), heads * width});
    for (int64_t h = 0; h < heads; ++h) {
      Join(context, sums, kv_slices_, h, DType::kF32, Column(held, h * width),
           heads * width);
    }
    context.tensor->SumCopies(
        {held.data<float>(), static_cast<size_t>(held.count())});
    for (int64_t h = 0; h < heads; ++h) {
      Join(context, held, 1, h, dqkv.dtype(),
           Column(dqkv, config_.q_rows() + h * width), qkv_.out);
    }
  }

  // The tree over `count` slices of head `head`, rounded once to `out`.
  void Join(const StepContext& context, const Tensor& sums, int64_t count,
            int64_t head, DType dtype, void* out, int64_t out_stride) const {
    const int64_t width = config_.head_dim;
    CombineSliceTree(context.device,
                     {.rows = context.rows(),
                      .columns = width,
                      .count = count,
                      .partials = sums.data<float>() + head * count * width,
                      .partial_stride = width,
                      .partial_row_stride = sums.dim(1),
                      .out = out,
                      .out_dtype = dtype,
                      .out_row_stride = out_stride});
  }

  const ModelConfig config_;  // of what this rank holds
  const std::string scope_;
  const int64_t copies_;     // ranks with the same key/value head
  const int64_t kv_slices_;  // of such a head, held here; 0: it is not cut
  LinearWeight qkv_;
  LinearWeight o_;
};

}  // namespace

std::unique_ptr<Mixer> MakeAttention(const ModelConfig& config, int64_t layer,
                                     ParameterStore& store,
                                     const TensorShare& share) {
  return std::make_unique<AttentionMixer>(config, layer, store, share);
}

}  // namespace lockstep
