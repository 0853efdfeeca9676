#include "model/layer.h"

#include <utility>

#include "determinism/check.h"
#include "model/kernels/residual_dropout/residual_dropout.h"
#include "model/norm.h"
#include "model/observe.h"
#include "model/stream.h"

namespace lockstep {
namespace {

std::unique_ptr<Mixer> MakeMixer(const ModelConfig& config, int64_t index,
                                 ParameterStore& store,
                                 const TensorShare& share) {
  switch (config.Layers()[static_cast<size_t>(index)]) {
    case LayerKind::kMamba2:
      return MakeMamba2(config, index, store, share);
    case LayerKind::kAttention:
      return MakeAttention(config, index, store, share);
    case LayerKind::kMlp:
      return MakeMlp(index, store, share);
  }
  LS_CHECK(false) << "a layer kind without a mixer";
  return nullptr;
}

DropoutPosition Dropout(const StepContext& context, const ModelConfig& config,
                        int64_t layer) {
  return {.p = context.training ? config.hidden_dropout : 0.0,
          .seed = context.seed,
          .layer = static_cast<uint16_t>(layer),
          .sample_ids = context.sample_ids,
          .tokens = context.stream_tokens(),
          .first_token = context.tensor == nullptr
                             ? 0
                             : context.tensor->FirstToken(context.tokens)};
}

// out = x + dropout(y); out may be x or y.
void Add(const StepContext& context, const OperationName& name,
         const DropoutPosition& dropout, const Tensor& x, const Tensor& y,
         Tensor& out) {
  const int64_t d = x.dim(1);
  ResidualDropoutForward(context.device, {.rows = x.dim(0),
                                          .d = d,
                                          .dtype = x.dtype(),
                                          .x = x.raw(),
                                          .x_row_stride = d,
                                          .y = y.raw(),
                                          .y_row_stride = d,
                                          .out = out.raw(),
                                          .out_row_stride = d,
                                          .dropout = dropout});
  Observe(context, name, {}, {StreamRef(context, Ref("out", out))});
}

}  // namespace

Layer::Layer(const ModelConfig& config, int64_t index, ParameterStore& store,
             const TensorShare& share)
    : config_(config),
      index_(index),
      scope_("layers." + std::to_string(index)),
      norm_(store.Get("backbone." + scope_ + ".norm.weight")),
      mixer_(MakeMixer(config, index, store, share)) {}

Tensor Layer::NormAndMix(const StepContext& context, const Tensor& x_RD,
                         LayerSaved& saved) {
  saved.h_RD =
      Tensor::Uninit(context.device, x_RD.dtype(), {x_RD.dim(0), x_RD.dim(1)});
  saved.rstd_R1 = Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), 1});
  NormForward(context, {scope_, "norm"}, norm_, config_.norm_eps, x_RD,
              *saved.h_RD, *saved.rstd_R1);
  Tensor y =
      Tensor::Uninit(context.device, x_RD.dtype(), {x_RD.dim(0), x_RD.dim(1)});
  Tensor room;
  saved.mixer =
      mixer_->Forward(context, AllTokens(context, *saved.h_RD, room), y);
  return y;
}

Tensor Layer::Forward(const StepContext& context, Tensor x_RD,
                      LayerSaved* saved, bool keep_activations) {
  LayerSaved kept;
  Tensor y = NormAndMix(context, x_RD, kept);
  Add(context, {scope_, "residual"}, Dropout(context, config_, index_), x_RD, y,
      y);
  if (saved == nullptr) return y;
  if (keep_activations) *saved = std::move(kept);
  saved->x_RD = std::move(x_RD);
  return y;
}

void Layer::MixerBackward(const StepContext& context, const LayerSaved& saved,
                          const Tensor& dy_RD, Tensor& dh_RD) {
  Tensor h_room, dy_room;
  const Tensor& h = AllTokens(context, *saved.h_RD, h_room);
  const Tensor& dy = AllTokens(context, dy_RD, dy_room);
  mixer_->Backward(context, h, *saved.mixer, dy, dh_RD);
}

Tensor Layer::Backward(const StepContext& context, LayerSaved saved,
                       Tensor dres_RD) {
  if (!saved.h_RD) {
    NormAndMix(context.In(Phase::kRecompute), *saved.x_RD, saved);
  }
  const int64_t d = dres_RD.dim(1);
  Tensor dy =
      Tensor::Uninit(context.device, dres_RD.dtype(), {dres_RD.dim(0), d});
  ResidualDropoutBackward(context.device,
                          {.rows = dres_RD.dim(0),
                           .d = d,
                           .dtype = dres_RD.dtype(),
                           .dres = dres_RD.raw(),
                           .dres_row_stride = d,
                           .dy = dy.raw(),
                           .dy_row_stride = d,
                           .dropout = Dropout(context, config_, index_)});
  Tensor dh =
      Tensor::Uninit(context.device, dres_RD.dtype(), {dres_RD.dim(0), d});
  MixerBackward(context, saved, dy, dh);
  Tensor dx =
      Tensor::Uninit(context.device, dres_RD.dtype(), {dres_RD.dim(0), d});
  NormBackward(context, {scope_, "norm"}, norm_, *saved.x_RD, *saved.rstd_R1,
               dh, dx);
  Add(context, {scope_, "residual"}, DropoutPosition{}, dres_RD, dx, dres_RD);
  return dres_RD;
}

}  // namespace lockstep
