#include "model/head_leaf.h"

#include <algorithm>

#include "model/gradient_sum.h"
#include "model/observe.h"
#include "model/tensor.h"

namespace lockstep {
namespace {

constexpr OperationName kLogits = {"lm_head", "logits"};

// The sum of a weight from some row on.
GradientSum SumFrom(const GradientSum& whole, int64_t offset) {
  GradientSum part = whole;
  if (part.sum != nullptr) part.sum += offset;
  if (part.grid != nullptr) part.grid += offset;
  return part;
}

class LeafPass {
 public:
  LeafPass(const StepContext& context, const HeadWeight& head,
           const HeadLeaf& leaf)
      : context_(context),
        backward_(context.In(Phase::kBackward)),
        head_(head),
        weight_(head.linear),
        leaf_(leaf),
        dtype_(weight_.dtype),
        rows_(context.samples_per_leaf * context.tokens),
        cut_(CutHead(rows_, head.columns(),
                     static_cast<int64_t>(SizeOf(dtype_)), head.room)) {}

  void LossesOnly() { Blocks({}); }
  void LossesAndGradients() {
    cut_.recomputes ? InChunks() : AtOnce();
    const int64_t samples = context_.samples_per_leaf;
    const int64_t stream_rows = samples * context_.stream_tokens();
    Observe(backward_, kLogits,
            {Ref("x", dtype_, leaf_.h, rows_, weight_.in, weight_.in)},
            {StreamRef(context_,
                       Ref("dx", dtype_, leaf_.dh, stream_rows, weight_.in,
                           weight_.in),
                       samples),
             Cut(GradientRef("dweight_sum", *weight_.parts[0].gradient,
                             head_.vocab_held, weight_.in),
                 0, weight_.held)});
  }

 private:
  // What becomes of the logits' gradient.
  struct BlockGradient {
    Tensor* dlogits = nullptr;  // of the leaf or of a block; null: losses only
    RowSums sums = {};          // of the leaf
    float* partial_dh = nullptr;
  };

  bool alone() const { return head_.share.degree == 1; }
  Tensor Uninit(DType dtype, int64_t rows, int64_t columns) const {
    return Tensor::Uninit(context_.device, dtype, {rows, columns});
  }
  // This rank's part of a leaf's dh, where there are others.
  Tensor PartialSum() const {
    return Uninit(DType::kF32, alone() ? 0 : rows_, weight_.in);
  }
  // In bytes, of so many rows of the storage type.
  int64_t BytesOf(int64_t rows, int64_t columns) const {
    return rows * columns * static_cast<int64_t>(SizeOf(dtype_));
  }

  void AtOnce();
  void InChunks();
  void Blocks(const BlockGradient& gradient);
  void InputGradient(int64_t first, int64_t rows, const void* dlogits,
                     float* partial_dh);
  void SumInputGradient(float* partial_dh);
  void Chunks(const RowSums& sums);
  void WeightGradient(const Tensor& dlogits, const HeadColumns& columns);

  const StepContext& context_;
  const StepContext backward_;
  const HeadWeight& head_;
  const LinearWeight& weight_;
  const HeadLeaf& leaf_;
  const DType dtype_;
  const int64_t rows_;
  const HeadCut cut_;
};

// The gradient of all the leaf's logits is there.
void LeafPass::AtOnce() {
  Tensor dlogits = Uninit(dtype_, rows_, head_.columns());
  Blocks({.dlogits = &dlogits});
  {
    Tensor partial = PartialSum();
    InputGradient(0, rows_, dlogits.raw(), partial.data<float>());
    SumInputGradient(partial.data<float>());
  }
  WeightGradient(dlogits, {0, head_.vocab_held, head_.columns()});
}

void LeafPass::InChunks() {
  Tensor sums = Uninit(DType::kF32, 2, rows_);
  const RowSums row_sums = {sums.data<float>(), sums.data<float>() + rows_};
  {
    Tensor partial = PartialSum();
    {
      Tensor dlogits = Uninit(dtype_, cut_.block_rows, head_.columns());
      Blocks({&dlogits, row_sums, partial.data<float>()});
    }
    SumInputGradient(partial.data<float>());
  }
  Chunks(row_sums);
}

void LeafPass::Blocks(const BlockGradient& gradient) {
  Tensor logits = Uninit(DType::kF32, cut_.block_rows, head_.columns());
  for (int64_t first = 0; first < rows_; first += cut_.block_rows) {
    const int64_t rows = std::min(cut_.block_rows, rows_ - first);
    void* dlogits = nullptr;
    if (gradient.dlogits != nullptr) {
      const int64_t at = cut_.recomputes ? 0 : first;
      dlogits = static_cast<char*>(gradient.dlogits->raw()) +
                BytesOf(at, head_.columns());
    }
    HeadLogits(context_, head_,
               static_cast<const char*>(leaf_.h) + BytesOf(first, weight_.in),
               rows, logits.data<float>());
    HeadLoss(context_, head_,
             {.rows = rows,
              .targets = leaf_.targets.From(first),
              .logits = logits.data<float>(),
              .loss = leaf_.loss + first,
              .sums = gradient.sums.From(first),
              .dlogits = dlogits});
    if (dlogits == nullptr || !cut_.recomputes) continue;
    InputGradient(first, rows, dlogits, gradient.partial_dh);
  }
}

// Rows of the padded vocabulary are zero on both sides of the product (N4).
void LeafPass::InputGradient(int64_t first, int64_t rows, const void* dlogits,
                             float* partial_dh) {
  void* dh = static_cast<char*>(leaf_.dh) + BytesOf(first, weight_.in);
  if (!alone()) dh = partial_dh + first * weight_.in;
  InputGradientRows(context_, weight_, rows, dlogits, dh,
                    alone() ? dtype_ : DType::kF32);
}

void LeafPass::SumInputGradient(float* partial_dh) {
  if (alone()) return;
  context_.tensor->SumStream(
      context_.device, {context_.samples_per_leaf, context_.tokens, weight_.in},
      partial_dh, leaf_.dh, dtype_);
}

void LeafPass::Chunks(const RowSums& sums) {
  const int64_t width = cut_.chunk_columns;
  Tensor logits = Uninit(DType::kF32, rows_, width);
  Tensor dlogits = Uninit(dtype_, rows_, width);
  for (int64_t first = 0; first < head_.vocab_held; first += width) {
    const HeadColumns columns = {
        first, std::min(width, head_.vocab_held - first), width};
    HeadProduct(context_, head_, leaf_.h, rows_, columns, logits.data<float>());
    HeadLossGradient(context_, head_,
                     {.rows = rows_,
                      .columns = columns,
                      .targets = leaf_.targets,
                      .sums = sums,
                      .logits = logits.data<float>(),
                      .dlogits = dlogits.raw()});
    WeightGradient(dlogits, columns);
  }
}

void LeafPass::WeightGradient(const Tensor& dlogits,
                              const HeadColumns& columns) {
  const GradientSum sum =
      SumFrom(*weight_.parts[0].gradient, columns.first * weight_.in);
  AddProductLeaves(context_.device, sum,
                   {.m = columns.count,
                    .n = weight_.in,
                    .leaves = 1,
                    .rows_per_leaf = rows_,
                    .dy = {dlogits.raw(), dtype_, 1, columns.row_stride},
                    .x = {leaf_.h, dtype_, weight_.in, 1}});
}

}  // namespace

void RunHeadLeaf(const StepContext& context, const HeadWeight& head,
                 const HeadLeaf& leaf) {
  LeafPass pass(context, head, leaf);
  leaf.dh == nullptr ? pass.LossesOnly() : pass.LossesAndGradients();
}

}  // namespace lockstep
