#include "model/head.h"

#include "model/gradient_sum.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/matmul/matmul.h"
#include "model/norm.h"
#include "model/observe.h"

namespace lockstep {
namespace {

constexpr OperationName kNorm = {"norm_f", "norm"};
constexpr OperationName kLogits = {"lm_head", "logits"};
constexpr OperationName kLoss = {"lm_head", "loss"};

int64_t LeafRows(const StepContext& context) {
  return context.samples_per_leaf * context.tokens;
}

char* RowsOf(const Tensor& tensor, int64_t row) {
  return static_cast<char*>(const_cast<void*>(tensor.raw())) +
         row * tensor.dim(1) * static_cast<int64_t>(SizeOf(tensor.dtype()));
}

}  // namespace

Head::Head(const ModelConfig& config, ParameterStore& store,
           int64_t tensor_grid)
    : config_(config),
      padded_vocab_(PaddedVocab(config.vocab, tensor_grid)),
      norm_(store.Get("backbone.norm_f.weight")),
      head_(WeightOf(store.Get("lm_head.weight"))) {}

void Head::Project(const StepContext& context, const void* h, int64_t rows,
                   float* logits) {
  Matmul(context.device, {.m = rows,
                          .n = config_.vocab,
                          .k = head_.in,
                          .a = {h, head_.dtype, head_.in, 1},
                          .b = {head_.runtime, head_.dtype, 1, head_.in},
                          .c = logits,
                          .c_dtype = DType::kF32,
                          .c_row_stride = padded_vocab_});
  Observe(
      context, kLogits, {Ref("x", head_.dtype, h, rows, head_.in, head_.in)},
      {Ref("logits", DType::kF32, logits, rows, config_.vocab, padded_vocab_)});
}

// Rows of the padded vocabulary are zero on both sides of the product (N4).
void Head::LeafBackward(const StepContext& context, const void* h,
                        const Tensor& dlogits_RV, void* dh) {
  const DType dtype = head_.dtype;
  const int64_t rows = LeafRows(context);
  Matmul(context.device, {.m = rows,
                          .n = head_.in,
                          .k = padded_vocab_,
                          .a = {dlogits_RV.raw(), dtype, padded_vocab_, 1},
                          .b = {head_.runtime, dtype, head_.in, 1},
                          .c = dh,
                          .c_dtype = dtype,
                          .c_row_stride = head_.in});
  AddProductLeaves(context.device, *head_.parts[0].gradient,
                   {.m = config_.vocab,
                    .n = head_.in,
                    .leaves = 1,
                    .rows_per_leaf = rows,
                    .dy = {dlogits_RV.raw(), dtype, 1, padded_vocab_},
                    .x = {h, dtype, head_.in, 1}});
  Observe(context.In(Phase::kBackward), kLogits, {Ref("dlogits", dlogits_RV)},
          {Ref("dx", dtype, dh, rows, head_.in, head_.in),
           GradientRef("dweight", *head_.parts[0].gradient, config_.vocab,
                       head_.in)});
}

void Head::Leaves(const StepContext& context, const Tensor& h_RD,
                  const LossTargets& targets, Tensor& loss_R, Tensor* dh_RD) {
  const int64_t rows = LeafRows(context);
  Device& device = context.device;
  Tensor logits = Tensor::Uninit(device, DType::kF32, {rows, padded_vocab_});
  Tensor dlogits = Tensor::Uninit(device, head_.dtype,
                                  {dh_RD == nullptr ? 0 : rows, padded_vocab_});
  for (int64_t first = 0; first < context.rows(); first += rows) {
    Project(context, RowsOf(h_RD, first), rows, logits.data<float>());
    CrossEntropy(device, {.rows = rows,
                          .vocab = config_.vocab,
                          .vocab_padded = padded_vocab_,
                          .logits = logits.data<float>(),
                          .logits_row_stride = padded_vocab_,
                          .labels = targets.labels + first,
                          .mask = targets.mask + first,
                          .loss_scale = context.loss_scale,
                          .loss = loss_R.data<float>() + first,
                          .dlogits_dtype = head_.dtype,
                          .dlogits = dh_RD == nullptr ? nullptr : dlogits.raw(),
                          .dlogits_row_stride = padded_vocab_});
    // The columns of padding hold whatever the memory held.
    Observe(
        context, kLoss,
        {Ref("logits", DType::kF32, logits.raw(), rows, config_.vocab,
             padded_vocab_)},
        {Ref("loss", DType::kF32, loss_R.data<float>() + first, rows, 1, 1)});
    if (dh_RD == nullptr) continue;
    LeafBackward(context, RowsOf(h_RD, first), dlogits, RowsOf(*dh_RD, first));
  }
}

void Head::Losses(const StepContext& context, const Tensor& x_RD,
                  const LossTargets& targets, Tensor& loss_R) {
  Tensor h = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  Tensor rstd = Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), 1});
  NormForward(context, kNorm, norm_, config_.norm_eps, x_RD, h, rstd);
  Leaves(context, h, targets, loss_R, nullptr);
}

Tensor Head::LossesAndBackward(const StepContext& context, const Tensor& x_RD,
                               const LossTargets& targets, Tensor& loss_R) {
  Tensor h = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  Tensor rstd = Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), 1});
  NormForward(context, kNorm, norm_, config_.norm_eps, x_RD, h, rstd);
  Tensor dh = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  Leaves(context, h, targets, loss_R, &dh);
  Tensor dx = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  NormBackward(context.In(Phase::kBackward), kNorm, norm_, x_RD, rstd, dh, dx);
  return dx;
}

Tensor Head::Logits(const StepContext& context, const Tensor& x_RD) {
  Tensor h = Tensor::Uninit(context.device, x_RD.dtype(), x_RD.shape());
  Tensor rstd = Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), 1});
  NormForward(context, kNorm, norm_, config_.norm_eps, x_RD, h, rstd);
  Tensor padded =
      Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), padded_vocab_});
  Project(context, h.raw(), x_RD.dim(0), padded.data<float>());
  return padded;
}

}  // namespace lockstep
