#include "model/head_rows.h"

#include <algorithm>
#include <string_view>

#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/cross_entropy/cross_entropy_slices.h"
#include "model/kernels/matmul/matmul.h"
#include "model/observe.h"
#include "model/tensor.h"

namespace lockstep {
namespace {

constexpr OperationName kLogits = {"lm_head", "logits"};
constexpr OperationName kLoss = {"lm_head", "loss"};

// The columns of padding hold whatever the memory held.
TensorRef OfVocabulary(const HeadWeight& head, std::string_view name,
                       DType dtype, const void* data, int64_t rows) {
  return Cut(Ref(name, dtype, data, rows, head.vocab_held, head.columns()), 1,
             head.linear.held);
}

void WholeRows(const StepContext& context, const HeadWeight& head,
               const LossRows& rows) {
  const int64_t columns = head.columns();
  CrossEntropy(context.device, {.rows = rows.rows,
                                .vocab = head.vocab,
                                .vocab_padded = columns,
                                .logits = rows.logits,
                                .logits_row_stride = columns,
                                .labels = rows.targets.labels,
                                .mask = rows.targets.mask,
                                .loss_scale = context.loss_scale,
                                .loss = rows.loss,
                                .dlogits_dtype = head.linear.dtype,
                                .dlogits = rows.dlogits,
                                .dlogits_row_stride = columns,
                                .slices = head.share.slices,
                                .top = rows.sums.top,
                                .total = rows.sums.total});
}

void SharedRows(const StepContext& context, const HeadWeight& head,
                const LossRows& rows) {
  Device& device = context.device;
  const auto count = static_cast<size_t>(rows.rows);
  Tensor numbers = Tensor::Uninit(device, DType::kF32, {3, rows.rows});
  float* top = numbers.data<float>();
  const CrossEntropySlicesArgs args = {.rows = rows.rows,
                                       .vocab = head.vocab,
                                       .first = head.first_id(),
                                       .columns = head.columns(),
                                       .slices = head.share.held(),
                                       .logits = rows.logits,
                                       .logits_row_stride = head.columns(),
                                       .labels = rows.targets.labels,
                                       .mask = rows.targets.mask,
                                       .loss_scale = context.loss_scale,
                                       .top = top,
                                       .total = top + rows.rows,
                                       .target = top + 2 * rows.rows,
                                       .loss = rows.loss,
                                       .dlogits_dtype = head.linear.dtype,
                                       .dlogits = rows.dlogits,
                                       .dlogits_row_stride = head.columns()};
  CrossEntropyTop(device, args);
  context.tensor->Max({top, count});
  CrossEntropySums(device, args);
  context.tensor->Sum({args.total, 2 * count});
  CrossEntropyFinish(device, args);
  if (rows.sums.top != nullptr) {
    std::copy_n(args.top, rows.rows, rows.sums.top);
    std::copy_n(args.total, rows.rows, rows.sums.total);
  }
}

}  // namespace

void HeadProduct(const StepContext& context, const HeadWeight& head,
                 const void* h, int64_t rows, const HeadColumns& columns,
                 float* logits) {
  const LinearWeight& weight = head.linear;
  const auto* w =
      static_cast<const char*>(weight.runtime) +
      columns.first * weight.in * static_cast<int64_t>(SizeOf(weight.dtype));
  Matmul(context.device, {.m = rows,
                          .n = columns.count,
                          .k = weight.in,
                          .a = {h, weight.dtype, weight.in, 1},
                          .b = {w, weight.dtype, 1, weight.in},
                          .c = logits,
                          .c_dtype = DType::kF32,
                          .c_row_stride = columns.row_stride});
}

void HeadLogits(const StepContext& context, const HeadWeight& head,
                const void* h, int64_t rows, float* logits) {
  const LinearWeight& weight = head.linear;
  HeadProduct(context, head, h, rows, {0, head.vocab_held, head.columns()},
              logits);
  Observe(context, kLogits,
          {Ref("x", weight.dtype, h, rows, weight.in, weight.in)},
          {OfVocabulary(head, "logits", DType::kF32, logits, rows)});
}

void HeadLoss(const StepContext& context, const HeadWeight& head,
              const LossRows& rows) {
  if (head.share.degree == 1) {
    WholeRows(context, head, rows);
  } else {
    SharedRows(context, head, rows);
  }
  const TensorRef loss = Ref("loss", DType::kF32, rows.loss, rows.rows, 1, 1);
  if (rows.dlogits == nullptr) return Observe(context, kLoss, {}, {loss});
  Observe(context, kLoss, {},
          {loss, OfVocabulary(head, "dlogits", head.linear.dtype, rows.dlogits,
                              rows.rows)});
}

void HeadLossGradient(const StepContext& context, const HeadWeight& head,
                      const ChunkRows& chunk) {
  CrossEntropyGradient(context.device,
                       {.rows = chunk.rows,
                        .vocab = head.vocab,
                        .first = head.first_id() + chunk.columns.first,
                        .columns = chunk.columns.count,
                        .slices = 1,
                        .logits = chunk.logits,
                        .logits_row_stride = chunk.columns.row_stride,
                        .labels = chunk.targets.labels,
                        .mask = chunk.targets.mask,
                        .loss_scale = context.loss_scale,
                        .top = chunk.sums.top,
                        .total = chunk.sums.total,
                        .dlogits_dtype = head.linear.dtype,
                        .dlogits = chunk.dlogits,
                        .dlogits_row_stride = chunk.columns.row_stride});
}

}  // namespace lockstep
