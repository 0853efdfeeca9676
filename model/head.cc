#include "model/head.h"

#include "model/head_leaf.h"
#include "model/norm.h"
#include "model/stream.h"

namespace lockstep {
namespace {

constexpr OperationName kNorm = {"norm_f", "norm"};

char* RowsOf(const Tensor& tensor, int64_t row) {
  return static_cast<char*>(const_cast<void*>(tensor.raw())) +
         row * tensor.dim(1) * static_cast<int64_t>(SizeOf(tensor.dtype()));
}

}  // namespace

Head::Head(const ModelConfig& config, ParameterStore& store,
           int64_t tensor_grid, const TensorShare& share, const HeadRoom& room)
    : config_(config),
      norm_(store.Get("backbone.norm_f.weight")),
      head_{.linear = WeightOf(store.Get("lm_head.weight"), share),
            .share = share,
            .vocab = config.vocab,
            .vocab_held = 0,
            .room = room} {
  head_.vocab_held = head_.linear.out;
  head_.linear.out = PaddedVocab(config.vocab, tensor_grid) / share.degree;
}

void Head::Leaves(const StepContext& context, const Tensor& h_RD,
                  const LossTargets& targets, Tensor& loss_R, Tensor* dh_RD) {
  const int64_t rows = context.samples_per_leaf * context.tokens;
  for (int64_t first = 0; first < context.rows(); first += rows) {
    const int64_t place = first / context.tokens * context.stream_tokens();
    RunHeadLeaf(context, head_,
                {.h = RowsOf(h_RD, first),
                 .targets = targets.From(first),
                 .loss = loss_R.data<float>() + first,
                 .dh = dh_RD == nullptr ? nullptr : RowsOf(*dh_RD, place)});
  }
}

void Head::Losses(const StepContext& context, const Tensor& x_RD,
                  const LossTargets& targets, Tensor& loss_R) {
  Tensor h = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  Tensor rstd = Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), 1});
  NormForward(context, kNorm, norm_, config_.norm_eps, x_RD, h, rstd);
  Tensor room;
  Leaves(context, AllTokens(context, h, room), targets, loss_R, nullptr);
}

Tensor Head::LossesAndBackward(const StepContext& context, const Tensor& x_RD,
                               const LossTargets& targets, Tensor& loss_R) {
  Tensor h = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  Tensor rstd = Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), 1});
  NormForward(context, kNorm, norm_, config_.norm_eps, x_RD, h, rstd);
  Tensor dh = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  {
    Tensor room;
    Leaves(context, AllTokens(context, h, room), targets, loss_R, &dh);
  }
  Tensor dx = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  NormBackward(context.In(Phase::kBackward), kNorm, norm_, x_RD, rstd, dh, dx);
  return dx;
}

Tensor Head::Logits(const StepContext& context, const Tensor& x_RD) {
  Tensor h = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  Tensor rstd = Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), 1});
  NormForward(context, kNorm, norm_, config_.norm_eps, x_RD, h, rstd);
  Tensor padded = Tensor::Uninit(context.device, DType::kF32,
                                 {x_RD.dim(0), head_.columns()});
  HeadLogits(context, head_, h.raw(), x_RD.dim(0), padded.data<float>());
  return padded;
}

}  // namespace lockstep
