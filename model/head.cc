#include "model/head.h"

#include "model/gradient_sum.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/cross_entropy/cross_entropy_slices.h"
#include "model/kernels/matmul/matmul.h"
#include "model/norm.h"
#include "model/observe.h"
#include "model/stream.h"

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
           int64_t tensor_grid, const TensorShare& share)
    : config_(config),
      share_(share),
      columns_(PaddedVocab(config.vocab, tensor_grid) / share.degree),
      first_(share.index * columns_),
      norm_(store.Get("backbone.norm_f.weight")),
      head_(WeightOf(store.Get("lm_head.weight"), share)),
      vocab_held_(head_.out) {
  head_.out = columns_;
}

void Head::Project(const StepContext& context, const void* h, int64_t rows,
                   float* logits) {
  Matmul(context.device, {.m = rows,
                          .n = vocab_held_,
                          .k = head_.in,
                          .a = {h, head_.dtype, head_.in, 1},
                          .b = {head_.runtime, head_.dtype, 1, head_.in},
                          .c = logits,
                          .c_dtype = DType::kF32,
                          .c_row_stride = columns_});
  Observe(context, kLogits,
          {Ref("x", head_.dtype, h, rows, head_.in, head_.in)},
          {Cut(Ref("logits", DType::kF32, logits, rows, vocab_held_, columns_),
               1, head_.held)});
}

// Rows of the padded vocabulary are zero on both sides of the product (N4).
void Head::LeafBackward(const StepContext& context, const void* h,
                        const Tensor& dlogits_RV, void* dh) {
  const DType dtype = head_.dtype;
  InputGradient(context, head_, context.samples_per_leaf, dlogits_RV.raw(), dh);
  AddProductLeaves(context.device, *head_.parts[0].gradient,
                   {.m = vocab_held_,
                    .n = head_.in,
                    .leaves = 1,
                    .rows_per_leaf = LeafRows(context),
                    .dy = {dlogits_RV.raw(), dtype, 1, columns_},
                    .x = {h, dtype, head_.in, 1}});
  const int64_t dx_rows = context.samples_per_leaf * context.stream_tokens();
  Observe(context.In(Phase::kBackward), kLogits,
          {Cut(Ref("dlogits", dtype, dlogits_RV.raw(), LeafRows(context),
                   vocab_held_, columns_),
               1, head_.held)},
          {StreamRef(context, Ref("dx", dtype, dh, dx_rows, head_.in, head_.in),
                     context.samples_per_leaf),
           Cut(GradientRef("dweight_sum", *head_.parts[0].gradient, vocab_held_,
                           head_.in),
               0, head_.held)});
}

void Head::Loss(const StepContext& context, const LossTargets& targets,
                const Leaf& leaf, Tensor& loss_R) {
  const int64_t rows = LeafRows(context);
  float* loss = loss_R.data<float>() + leaf.first;
  Tensor* dlogits = leaf.dlogits_RV;
  CrossEntropy(context.device,
               {.rows = rows,
                .vocab = config_.vocab,
                .vocab_padded = columns_,
                .logits = leaf.logits_RV.data<float>(),
                .logits_row_stride = columns_,
                .labels = targets.labels + leaf.first,
                .mask = targets.mask + leaf.first,
                .loss_scale = context.loss_scale,
                .loss = loss,
                .dlogits_dtype = head_.dtype,
                .dlogits = dlogits == nullptr ? nullptr : dlogits->raw(),
                .dlogits_row_stride = columns_});
  // The columns of padding hold whatever the memory held.
  Observe(context, kLoss,
          {Ref("logits", DType::kF32, leaf.logits_RV.raw(), rows, config_.vocab,
               columns_)},
          {Ref("loss", DType::kF32, loss, rows, 1, 1)});
}

// The logits are used up.
void Head::SlicedLoss(const StepContext& context, const LossTargets& targets,
                      const Leaf& leaf, Tensor& loss_R) {
  Device& device = context.device;
  const int64_t rows = LeafRows(context);
  const auto count = static_cast<size_t>(rows);
  Tensor numbers = Tensor::Uninit(device, DType::kF32, {3, rows});
  float* top = numbers.data<float>();
  float* loss = loss_R.data<float>() + leaf.first;
  Tensor* dlogits = leaf.dlogits_RV;
  const CrossEntropySlicesArgs args = {
      .rows = rows,
      .vocab = config_.vocab,
      .first = first_,
      .columns = columns_,
      .slices = share_.held(),
      .logits = leaf.logits_RV.data<float>(),
      .logits_row_stride = columns_,
      .labels = targets.labels + leaf.first,
      .mask = targets.mask + leaf.first,
      .loss_scale = context.loss_scale,
      .top = top,
      .total = top + rows,
      .target = top + 2 * rows,
      .loss = loss,
      .dlogits_dtype = head_.dtype,
      .dlogits = dlogits == nullptr ? nullptr : dlogits->raw(),
      .dlogits_row_stride = columns_};
  CrossEntropyTop(device, args);
  if (share_.degree > 1) context.tensor->Max({top, count});
  CrossEntropySums(device, args);
  if (share_.degree > 1) context.tensor->Sum({args.total, 2 * count});
  CrossEntropyFinish(device, args);
  Observe(context, kLoss, {}, {Ref("loss", DType::kF32, loss, rows, 1, 1)});
}

void Head::Leaves(const StepContext& context, const Tensor& h_RD,
                  const LossTargets& targets, Tensor& loss_R, Tensor* dh_RD) {
  const int64_t rows = LeafRows(context);
  Device& device = context.device;
  Tensor logits = Tensor::Uninit(device, DType::kF32, {rows, columns_});
  Tensor dlogits = Tensor::Uninit(device, head_.dtype,
                                  {dh_RD == nullptr ? 0 : rows, columns_});
  for (int64_t first = 0; first < context.rows(); first += rows) {
    Project(context, RowsOf(h_RD, first), rows, logits.data<float>());
    const Leaf leaf = {first, logits, dh_RD == nullptr ? nullptr : &dlogits};
    if (share_.slices == 1) {
      Loss(context, targets, leaf, loss_R);
    } else {
      SlicedLoss(context, targets, leaf, loss_R);
    }
    if (dh_RD == nullptr) continue;
    const int64_t place = first / context.tokens * context.stream_tokens();
    LeafBackward(context, RowsOf(h_RD, first), dlogits, RowsOf(*dh_RD, place));
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
  Tensor padded =
      Tensor::Uninit(context.device, DType::kF32, {x_RD.dim(0), columns_});
  Project(context, h.raw(), x_RD.dim(0), padded.data<float>());
  return padded;
}

}  // namespace lockstep
