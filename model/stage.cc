#include "model/stage.h"

#include <utility>

#include "determinism/check.h"
#include "model/gradient_sum.h"
#include "model/kernels/embedding/embedding.h"
#include "model/observe.h"
#include "model/stream.h"

namespace lockstep {
namespace {

constexpr OperationName kLookup = {"embeddings", "lookup"};

EmbeddingRows RowsHeld(const TensorSplit& split, const TensorShare& share) {
  const std::vector<HeldRange> held =
      HeldRanges(split, share.degree, share.index);
  return held.empty() ? EmbeddingRows{0, 0}
                      : EmbeddingRows{held[0].begin, held[0].end};
}

}  // namespace

Stage::Stage(const ModelConfig& config, ParameterStore& store,
             int64_t tensor_grid, bool recompute, const TensorShare& share)
    : Stage(config, store, tensor_grid, recompute, share,
            {0, static_cast<int64_t>(config.Layers().size())}) {}

Stage::Stage(const ModelConfig& config, ParameterStore& store,
             int64_t tensor_grid, bool recompute, const TensorShare& share,
             const StageRange& layers)
    : config_(config), recompute_(recompute), share_(share), range_(layers) {
  // Every matrix has the storage dtype, which is the stream's.
  for (const ParameterSpec& spec : store.specs()) {
    if (spec.shape.size() == 2) stream_dtype_ = spec.runtime_dtype;
  }
  if (layers.begin == 0) {
    embedding_ = &store.Get("backbone.embeddings.weight");
    embedding_rows_ = RowsHeld(embedding_->spec.split, share);
  }
  layers_.reserve(static_cast<size_t>(layers.end - layers.begin));
  for (int64_t i = layers.begin; i < layers.end; ++i) {
    layers_.emplace_back(config, i, store, share);
  }
  if (layers.end == static_cast<int64_t>(config.Layers().size())) {
    head_.emplace(config, store, tensor_grid, share);
  }
}

Tensor Stage::Embed(const StepContext& context, const int32_t* ids) {
  LS_CHECK(context.share() == share_) << "another rank's context";
  const DType dtype = embedding_->spec.runtime_dtype;
  Tensor x =
      Tensor::Uninit(context.device, dtype, {context.rows(), config_.hidden});
  EmbeddingForward(context.device, {.rows = context.rows(),
                                    .d = config_.hidden,
                                    .vocab = config_.vocab,
                                    .dtype = x.dtype(),
                                    .table = embedding_->runtime,
                                    .ids = ids,
                                    .out = x.raw(),
                                    .out_row_stride = config_.hidden,
                                    .held = embedding_rows_});
  if (share_.degree > 1) {
    Tensor selected = Tensor::Uninit(context.device, dtype,
                                     {context.stream_rows(), config_.hidden});
    context.tensor->SelectStream(
        context.device, {context.samples, context.tokens, config_.hidden},
        dtype, x.raw(), selected.raw());
    x = std::move(selected);
  }
  Observe(context, kLookup,
          {Ref("ids", DType::kI32, ids, context.samples, context.tokens,
               context.tokens),
           Cut(Ref("weight", dtype, embedding_->runtime,
                   embedding_rows_.end - embedding_rows_.begin, config_.hidden,
                   config_.hidden),
               0, HeldOf(embedding_->spec.split, share_))},
          {StreamRef(context, Ref("x", x))});
  return x;
}

void Stage::EmbedBackward(const StepContext& context, const int32_t* ids,
                          const Tensor& dx_slice_RD) {
  Tensor room;
  const Tensor& dx_RD = AllTokens(context, dx_slice_RD, room);
  AddEmbeddingLeaves(
      context.device, embedding_->gradient,
      {.rows = context.rows(),
       .d = config_.hidden,
       .vocab = config_.vocab,
       .rows_per_leaf = context.samples_per_leaf * context.tokens,
       .dtype = dx_RD.dtype(),
       .dout = dx_RD.raw(),
       .dout_row_stride = config_.hidden,
       .ids = ids,
       .held = embedding_rows_});
  Observe(context, kLookup, {Ref("dx", dx_RD)},
          {Cut(GradientRef("dweight_sum", embedding_->gradient,
                           embedding_rows_.end - embedding_rows_.begin,
                           config_.hidden),
               0, HeldOf(embedding_->spec.split, share_))});
}

Tensor Stage::ForwardLayers(const StepContext& context, const int32_t* ids,
                            Tensor x_RD, std::vector<LayerSaved>* saved) {
  Tensor x = first() ? Embed(context, ids) : std::move(x_RD);
  for (size_t i = 0; i < layers_.size(); ++i) {
    LayerSaved* keep = saved == nullptr ? nullptr : &(*saved)[i];
    x = layers_[i].Forward(context, std::move(x), keep, !recompute_);
  }
  return x;
}

Tensor Stage::Forward(const StepContext& context, const MicroBatch& batch,
                      Tensor x_RD, StageSaved& saved) {
  saved.layers = std::vector<LayerSaved>(layers_.size());
  Tensor x = ForwardLayers(context, batch.ids, std::move(x_RD), &saved.layers);
  if (!last()) return x;
  Tensor loss = Tensor::Uninit(context.device, DType::kF32, {context.rows()});
  saved.dres_RD = head_->LossesAndBackward(context, x, batch.targets, loss);
  return loss;
}

Tensor Stage::Backward(const StepContext& context, const MicroBatch& batch,
                       StageSaved saved, Tensor dres_RD,
                       const LayerDone& done) {
  const StepContext backward = context.In(Phase::kBackward);
  // The head ran backward in Forward.
  if (last()) Done(range_.end, done);
  Tensor dres = last() ? std::move(saved.dres_RD) : std::move(dres_RD);
  for (size_t i = layers_.size(); i-- > 0;) {
    dres = layers_[i].Backward(backward, std::move(saved.layers[i]),
                               std::move(dres));
    Done(range_.begin + static_cast<int64_t>(i), done);
  }
  if (!first()) return dres;
  EmbedBackward(backward, batch.ids, dres);
  Done(-1, done);
  return Tensor();
}

Tensor Stage::Evaluate(const StepContext& context, const MicroBatch& batch,
                       Tensor x_RD) {
  Tensor x = ForwardLayers(context, batch.ids, std::move(x_RD), nullptr);
  if (!last()) return x;
  Tensor loss = Tensor::Uninit(context.device, DType::kF32, {context.rows()});
  head_->Losses(context, x, batch.targets, loss);
  return loss;
}

Tensor Stage::TrainMicroBatch(const StepContext& context,
                              const MicroBatch& batch) {
  StageSaved saved;
  Tensor loss = Forward(context, batch, Tensor(), saved);
  Backward(context, batch, std::move(saved), Tensor());
  return loss;
}

Tensor Stage::EvaluateMicroBatch(const StepContext& context,
                                 const MicroBatch& batch) {
  return Evaluate(context, batch, Tensor());
}

Tensor Stage::Logits(const StepContext& context, const int32_t* ids) {
  LS_CHECK(first() && last()) << "logits of a part of a model";
  Tensor x = ForwardLayers(context, ids, Tensor(), nullptr);
  return head_->Logits(context, x);
}

}  // namespace lockstep
