// The Mamba-2 mixer (MODEL 2.3): in_proj, causal convolution with SiLU, the
// chunked scan, the gated norm, out_proj. The five parts z, x, B, C, dt stand
// side by side in one row, forward and backward, so the input gradient is one
// product over all of them (N4). A rank has whole groups, so nothing is
// exchanged between in_proj and out_proj.
#include "model/gradient_sum.h"
#include "model/kernels/conv1d_silu/conv1d_silu.h"
#include "model/kernels/gated_norm/gated_norm.h"
#include "model/kernels/ssd_scan/ssd_scan.h"
#include "model/linear.h"
#include "model/mamba2_saved.h"
#include "model/mixer.h"
#include "model/observe.h"
#include "model/tensor_cut.h"

namespace lockstep {
namespace {

class Mamba2 : public Mixer {
 public:
  Mamba2(const ModelConfig& config, int64_t layer, ParameterStore& store,
         const TensorShare& share)
      : c_(HeldConfig(config, share.degree)),
        scope_(MixerScope(layer)),
        in_(WeightOf(MixerParameter(store, layer, "in_proj.weight"), share)),
        out_(WeightOf(MixerParameter(store, layer, "out_proj.weight"), share)),
        conv_weight_(MixerParameter(store, layer, "conv1d.weight")),
        conv_bias_(MixerParameter(store, layer, "conv1d.bias")),
        dt_bias_(MixerParameter(store, layer, "dt_bias")),
        a_log_(MixerParameter(store, layer, "A_log")),
        d_(MixerParameter(store, layer, "D")),
        norm_(MixerParameter(store, layer, "norm.weight")),
        cut_{HeldOf(conv_bias_.spec.split, share),
             HeldOf(norm_.spec.split, share),
             HeldOf(dt_bias_.spec.split, share)} {}

  std::unique_ptr<MixerSaved> Forward(const StepContext& context,
                                      const Tensor& h_RD,
                                      Tensor& y_RD) override {
    auto saved = std::make_unique<Mamba2Saved>(context.device, in_.dtype, c_,
                                               context.samples, context.tokens);
    LinearForward(context, {scope_, "in_proj"}, in_, h_RD.raw(),
                  saved->zxbcdt_RC.raw());
    ConvForward(context, *saved);
    ScanForward(context, *saved);
    NormForward(context, *saved);
    LinearForward(context, {scope_, "out_proj"}, out_, saved->gated_RI.raw(),
                  y_RD.raw());
    return saved;
  }

  void Backward(const StepContext& context, const Tensor& h_RD,
                const MixerSaved& saved_base, const Tensor& dy_RD,
                Tensor& dh_RD) override {
    const auto& saved = static_cast<const Mamba2Saved&>(saved_base);
    Device& device = context.device;
    const int64_t rows = context.rows();
    Tensor dgated = Tensor::Uninit(device, in_.dtype, {rows, c_.inner()});
    Tensor dy = Tensor::Uninit(device, in_.dtype, {rows, c_.inner()});
    Tensor dxbc = Tensor::Uninit(device, in_.dtype, {rows, c_.conv_channels()});
    Tensor dzxbcdt = Tensor::Uninit(device, in_.dtype, {rows, in_.out});
    LinearBackward(context, {scope_, "out_proj"}, out_, saved.gated_RI.raw(),
                   dy_RD.raw(), dgated.raw());
    NormBackward(context, saved, dgated, dy, dzxbcdt);
    ScanBackward(context, saved, dy, dxbc, dzxbcdt);
    ConvBackward(context, saved, dxbc, dzxbcdt);
    LinearBackward(context, {scope_, "in_proj"}, in_, h_RD.raw(), dzxbcdt.raw(),
                   dh_RD.raw());
  }

 private:
  // Columns of in_proj's output: z at 0, then xBC, then dt.
  int64_t xbc_column() const { return c_.inner(); }
  int64_t c_column() const { return c_.inner() + c_.groups * c_.state; }
  int64_t dt_column() const { return c_.inner() + c_.conv_channels(); }

  void ConvForward(const StepContext& context, Mamba2Saved& saved) {
    Conv1dSiluForward(context.device,
                      {.batch = context.samples,
                       .tokens = context.tokens,
                       .channels = c_.conv_channels(),
                       .dtype = in_.dtype,
                       .x = Column(saved.zxbcdt_RC, xbc_column()),
                       .x_row_stride = in_.out,
                       .weight = conv_weight_.runtime_f32(),
                       .bias = conv_bias_.runtime_f32(),
                       .y = saved.xbc_RC.raw(),
                       .y_row_stride = c_.conv_channels(),
                       .segments = context.segments});
    Observe(context, {scope_, "conv1d"},
            {cut_.Channels(
                Part("x", saved.zxbcdt_RC, xbc_column(), c_.conv_channels()))},
            {cut_.Channels(Ref("y", saved.xbc_RC))});
  }

  void ConvBackward(const StepContext& context, const Mamba2Saved& saved,
                    const Tensor& dxbc, Tensor& dzxbcdt) {
    const int64_t channels = c_.conv_channels(), leaves = context.leaves();
    Tensor dweight = Tensor::Uninit(context.device, DType::kF32,
                                    {leaves, channels, c_.conv});
    Tensor dbias =
        Tensor::Uninit(context.device, DType::kF32, {leaves, channels});
    Conv1dSiluBackward(context.device,
                       {.batch = context.samples,
                        .tokens = context.tokens,
                        .channels = channels,
                        .samples_per_leaf = context.samples_per_leaf,
                        .dtype = in_.dtype,
                        .dy = dxbc.raw(),
                        .dy_row_stride = channels,
                        .x = Column(saved.zxbcdt_RC, xbc_column()),
                        .x_row_stride = in_.out,
                        .weight = conv_weight_.runtime_f32(),
                        .bias = conv_bias_.runtime_f32(),
                        .segments = context.segments,
                        .dx = Column(dzxbcdt, xbc_column()),
                        .dx_row_stride = in_.out,
                        .dweight = dweight.data<float>(),
                        .dbias = dbias.data<float>()});
    Observe(context, {scope_, "conv1d"}, {cut_.Channels(Ref("dy", dxbc))},
            {cut_.Channels(Part("dx", dzxbcdt, xbc_column(), channels)),
             cut_.Channels(Ref("dweight", dweight)),
             cut_.Channels(Ref("dbias", dbias))});
    AddLeaves(context.device, conv_weight_.gradient, dweight.data<float>(),
              leaves, channels * c_.conv);
    AddLeaves(context.device, conv_bias_.gradient, dbias.data<float>(), leaves,
              channels);
  }

  SsdShape Shape(const StepContext& context) const {
    return {context.samples, context.tokens, c_.mamba_heads, c_.mamba_head_dim,
            c_.groups,       c_.state,       c_.chunk};
  }
  SsdInputs ScanInputs(const StepContext& context,
                       const Mamba2Saved& saved) const {
    const int64_t row = c_.conv_channels(), b = c_.inner(), c = c_column();
    const Tensor& xbc = saved.xbc_RC;
    return {in_.dtype,
            xbc.raw(),
            row,
            Column(xbc, b),
            row,
            Column(xbc, c),
            row,
            Column(saved.zxbcdt_RC, dt_column()),
            in_.out,
            dt_bias_.runtime_f32(),
            a_log_.runtime_f32(),
            d_.runtime_f32(),
            context.segments};
  }
  static SsdSaved ScanSaved(const Mamba2Saved& saved) {
    return {const_cast<float*>(saved.dt_BHT.data<float>()),
            const_cast<float*>(saved.cumsum_BHT.data<float>()),
            const_cast<float*>(saved.states.data<float>())};
  }

  void ScanForward(const StepContext& context, Mamba2Saved& saved) {
    SsdForward(context.device, Shape(context), ScanInputs(context, saved),
               ScanSaved(saved), saved.y_RI.raw(), c_.inner());
    Observe(context, {scope_, "ssd_scan"},
            {cut_.Channels(Ref("xbc", saved.xbc_RC)),
             cut_.Heads(
                 Part("dt_raw", saved.zxbcdt_RC, dt_column(), c_.mamba_heads))},
            {cut_.Inner(Ref("y", saved.y_RI)),
             cut_.Heads(Ref("states", saved.states))});
  }

  void ScanBackward(const StepContext& context, const Mamba2Saved& saved,
                    const Tensor& dy, Tensor& dxbc, Tensor& dzxbcdt) {
    const int64_t row = c_.conv_channels(), b = c_.inner(), c = c_column();
    const int64_t leaves = context.leaves(), heads = c_.mamba_heads;
    Tensor vectors =
        Tensor::Uninit(context.device, DType::kF32, {3, leaves, heads});
    float* ddt_bias = vectors.data<float>();
    float* da_log = ddt_bias + leaves * heads;
    float* dd = da_log + leaves * heads;
    SsdBackward(context.device, Shape(context), ScanInputs(context, saved),
                ScanSaved(saved), dy.raw(), c_.inner(),
                {dxbc.raw(), row, Column(dxbc, b), row, Column(dxbc, c), row,
                 Column(dzxbcdt, dt_column()), in_.out, ddt_bias, da_log, dd,
                 context.samples_per_leaf});
    Observe(
        context, {scope_, "ssd_scan"},
        {cut_.Inner(Ref("dy", dy)), cut_.Channels(Ref("xbc", saved.xbc_RC))},
        {cut_.Channels(Ref("dxbc", dxbc)),
         cut_.Heads(Part("ddt_raw", dzxbcdt, dt_column(), heads)),
         Cut(Ref("dvectors", vectors), 2, cut_.heads)});
    AddLeaves(context.device, dt_bias_.gradient, ddt_bias, leaves, heads);
    AddLeaves(context.device, a_log_.gradient, da_log, leaves, heads);
    AddLeaves(context.device, d_.gradient, dd, leaves, heads);
  }

  void NormForward(const StepContext& context, Mamba2Saved& saved) {
    GatedNormForward(context.device, {.rows = context.rows(),
                                      .d = c_.inner(),
                                      .groups = c_.groups,
                                      .eps = c_.norm_eps,
                                      .dtype = in_.dtype,
                                      .y = saved.y_RI.raw(),
                                      .y_row_stride = c_.inner(),
                                      .z = saved.zxbcdt_RC.raw(),
                                      .z_row_stride = in_.out,
                                      .weight = norm_.runtime_f32(),
                                      .out = saved.gated_RI.raw(),
                                      .out_row_stride = c_.inner(),
                                      .rstd = saved.rstd_RG.data<float>()});
    Observe(context, {scope_, "norm"},
            {cut_.Inner(Ref("y", saved.y_RI)),
             cut_.Inner(Part("z", saved.zxbcdt_RC, 0, c_.inner()))},
            {cut_.Inner(Ref("out", saved.gated_RI))});
  }

  void NormBackward(const StepContext& context, const Mamba2Saved& saved,
                    const Tensor& dgated, Tensor& dy, Tensor& dzxbcdt) {
    Tensor dweight = Tensor::Uninit(context.device, DType::kF32,
                                    {context.leaves(), c_.inner()});
    GatedNormBackward(
        context.device,
        {.rows = context.rows(),
         .d = c_.inner(),
         .groups = c_.groups,
         .rows_per_leaf = context.samples_per_leaf * context.tokens,
         .dtype = in_.dtype,
         .dout = dgated.raw(),
         .dout_row_stride = c_.inner(),
         .y = saved.y_RI.raw(),
         .y_row_stride = c_.inner(),
         .z = saved.zxbcdt_RC.raw(),
         .z_row_stride = in_.out,
         .rstd = saved.rstd_RG.data<float>(),
         .weight = norm_.runtime_f32(),
         .dy = dy.raw(),
         .dy_row_stride = c_.inner(),
         .dz = dzxbcdt.raw(),
         .dz_row_stride = in_.out,
         .dweight = dweight.data<float>()});
    Observe(context, {scope_, "norm"}, {cut_.Inner(Ref("dout", dgated))},
            {cut_.Inner(Ref("dy", dy)),
             cut_.Inner(Part("dz", dzxbcdt, 0, c_.inner())),
             cut_.Inner(Ref("dweight", dweight))});
    AddLeaves(context.device, norm_.gradient, dweight.data<float>(),
              context.leaves(), c_.inner());
  }

  const ModelConfig c_;  // of what this rank holds
  std::string scope_;
  LinearWeight in_;
  LinearWeight out_;
  Parameter& conv_weight_;
  Parameter& conv_bias_;
  Parameter& dt_bias_;
  Parameter& a_log_;
  Parameter& d_;
  Parameter& norm_;
  const Mamba2Cut cut_;
};

}  // namespace

std::unique_ptr<Mixer> MakeMamba2(const ModelConfig& config, int64_t layer,
                                  ParameterStore& store,
                                  const TensorShare& share) {
  return std::make_unique<Mamba2>(config, layer, store, share);
}

}  // namespace lockstep
