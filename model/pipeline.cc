#include "model/pipeline.h"

#include <cstddef>
#include <span>
#include <string_view>

#include "determinism/check.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "model/observe.h"

namespace lockstep {

namespace {

// Layers cannot fail; their axis remembers that an exchange did.
absl::Status AxisStatus(const StepContext& context) {
  return context.tensor == nullptr ? absl::OkStatus()
                                   : context.tensor->status();
}

// A stream's scope is its direction: forward and backward of a micro-batch
// bring one each.
void AnnounceMessage(const StepContext& context, const PipelineAction& action,
                     std::string_view operation, const Tensor& stream) {
  const bool forward = action.direction == PipelineDirection::kForward;
  Observe(context.In(Phase::kMessage),
          {forward ? "pipeline.forward" : "pipeline.backward", operation}, {},
          {StreamRef(context, Ref("stream", stream))});
}

}  // namespace

Pipeline::Pipeline(std::vector<Stage> chunks, const ModelLayout& layout)
    : layout_(layout), chunks_(std::move(chunks)) {
  LS_CHECK_EQ(chunks_.size(), static_cast<size_t>(layout.interleave));
}

Stage& Pipeline::whole() {
  LS_CHECK(chunks_.size() == 1 && chunks_[0].first() && chunks_[0].last())
      << "this rank has a part of the model";
  return chunks_[0];
}

PipelineShape Pipeline::ShapeFor(const MicroBatchSource& source) const {
  return {.ranks = layout_.shape.pipeline,
          .interleave = layout_.interleave,
          .micro_batches = source.count()};
}

absl::Status Pipeline::Train(MicroBatchSource& source, const LayerDone& done) {
  if (source.count() == 0) return absl::OkStatus();
  saved_.clear();
  const PipelineShape shape = ShapeFor(source);
  for (const PipelineAction& action :
       PipelineScheduleOf(shape, layout_.at.pipeline)) {
    const bool forward = action.direction == PipelineDirection::kForward;
    LS_RETURN_IF_ERROR(forward ? Forward(shape, action, source)
                               : Backward(shape, action, source, done));
  }
  return absl::OkStatus();
}

absl::Status Pipeline::Evaluate(MicroBatchSource& source) {
  if (source.count() == 0) return absl::OkStatus();
  const PipelineShape shape = ShapeFor(source);
  for (int64_t m = 0; m < source.count(); ++m) {
    const StepContext context = source.Context(m);
    for (int chunk = 0; chunk < layout_.interleave; ++chunk) {
      const PipelineAction action = {.direction = PipelineDirection::kForward,
                                     .micro_batch = m,
                                     .chunk = chunk};
      LS_ASSIGN_OR_RETURN(Tensor x, Receive(shape, action, context));
      Stage& stage = chunks_[static_cast<size_t>(chunk)];
      const Tensor y = stage.Evaluate(context, source.Batch(m), std::move(x));
      LS_RETURN_IF_ERROR(AxisStatus(context));
      if (stage.last()) {
        source.TakeLosses(m, y);
      } else {
        LS_RETURN_IF_ERROR(Send(shape, action, context, y));
      }
    }
    LS_RETURN_IF_ERROR(source.Finished(m));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Pipeline::Receive(const PipelineShape& shape,
                                         const PipelineAction& action,
                                         const StepContext& context) const {
  const auto peer = PipelineInput(shape, layout_.at.pipeline, action);
  if (!peer) return Tensor();
  const Stage& stage = chunks_[static_cast<size_t>(action.chunk)];
  Tensor stream = Tensor::Uninit(context.device, stage.stream_dtype(),
                                 {context.stream_rows(), stage.hidden()});
  {
    const ScopedFloatEnv float_env;  // puts back what a library leaves (N2)
    LS_RETURN_IF_ERROR(layout_.pipeline->Recv(
        {static_cast<std::byte*>(stream.raw()), stream.bytes()}, peer->rank,
        peer->tag));
  }
  AnnounceMessage(context, action, "receive", stream);
  return stream;
}

absl::Status Pipeline::Send(const PipelineShape& shape,
                            const PipelineAction& action,
                            const StepContext& context,
                            const Tensor& stream) const {
  const auto peer = PipelineOutput(shape, layout_.at.pipeline, action);
  if (!peer) return absl::OkStatus();
  AnnounceMessage(context, action, "send", stream);
  const ScopedFloatEnv float_env;  // puts back what a library leaves (N2)
  return layout_.pipeline->Send(
      {static_cast<const std::byte*>(stream.raw()), stream.bytes()}, peer->rank,
      peer->tag);
}

absl::Status Pipeline::Forward(const PipelineShape& shape,
                               const PipelineAction& action,
                               MicroBatchSource& source) {
  const int64_t m = action.micro_batch;
  const StepContext context = source.Context(m);
  LS_ASSIGN_OR_RETURN(Tensor x, Receive(shape, action, context));
  Stage& stage = chunks_[static_cast<size_t>(action.chunk)];
  const Tensor y = stage.Forward(context, source.Batch(m), std::move(x),
                                 saved_[{action.chunk, m}]);
  LS_RETURN_IF_ERROR(AxisStatus(context));
  if (!stage.last()) return Send(shape, action, context, y);
  source.TakeLosses(m, y);
  return absl::OkStatus();
}

absl::Status Pipeline::Backward(const PipelineShape& shape,
                                const PipelineAction& action,
                                MicroBatchSource& source,
                                const LayerDone& done) {
  const int64_t m = action.micro_batch;
  const StepContext context = source.Context(m);
  LS_ASSIGN_OR_RETURN(Tensor dy, Receive(shape, action, context));
  auto saved = saved_.extract({action.chunk, m});
  Stage& stage = chunks_[static_cast<size_t>(action.chunk)];
  const bool last = m == source.count() - 1;
  const Tensor dx =
      stage.Backward(context, source.Batch(m), std::move(saved.mapped()),
                     std::move(dy), last ? done : LayerDone());
  LS_RETURN_IF_ERROR(AxisStatus(context));
  LS_RETURN_IF_ERROR(Send(shape, action, context, dx));
  return action.chunk == 0 ? source.Finished(m) : absl::OkStatus();
}

}  // namespace lockstep
