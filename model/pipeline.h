// The stages of one pipeline rank, run over the micro-batches of a step.
//
// What it is: the schedule of parallel/pipeline_schedule.h carried out: which
// stage works on which micro-batch when, and the residual streams and their
// gradients that ranks send each other, in the storage dtype (N13). What it is
// not: a schedule, or an optimizer. Why so: a backward ascends in micro-batches
// on every rank, whatever the schedule, so leaves are added in the order of the
// samples; and one rank with one stage runs the same code.
#ifndef LOCKSTEP_MODEL_PIPELINE_H_
#define LOCKSTEP_MODEL_PIPELINE_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/model_layout.h"
#include "model/stage.h"
#include "model/step_context.h"
#include "model/tensor.h"
#include "parallel/pipeline_schedule.h"

namespace lockstep {

// The micro-batches of this rank's replica.
class MicroBatchSource {
 public:
  virtual ~MicroBatchSource() = default;
  virtual int64_t count() const = 0;  // may be 0
  virtual StepContext Context(int64_t micro_batch) = 0;
  // What it points to stays until the source is gone.
  virtual MicroBatch Batch(int64_t micro_batch) = 0;
  // fp32 [rows]; on the last pipeline rank only.
  virtual void TakeLosses(int64_t micro_batch, const Tensor& loss_R) = 0;
  // This rank has done all that it does for the micro-batch.
  virtual absl::Status Finished(int64_t micro_batch) = 0;
};

class Pipeline {
 public:
  // `chunks`: this rank's stages by chunk, owned; the layout's communicators
  // are borrowed.
  Pipeline(std::vector<Stage> chunks, const ModelLayout& layout);

  // Forward and backward of all micro-batches. `done` hears of each layer of
  // this rank once the last micro-batch has been through it.
  absl::Status Train(MicroBatchSource& source, const LayerDone& done = {});
  // Forward alone.
  absl::Status Evaluate(MicroBatchSource& source);

  // The only stage of a rank that has the whole model.
  Stage& whole();

 private:
  PipelineShape ShapeFor(const MicroBatchSource& source) const;
  absl::StatusOr<Tensor> Receive(const PipelineShape& shape,
                                 const PipelineAction& action,
                                 const StepContext& context) const;
  absl::Status Send(const PipelineShape& shape, const PipelineAction& action,
                    const StepContext& context, const Tensor& stream) const;
  absl::Status Forward(const PipelineShape& shape, const PipelineAction& action,
                       MicroBatchSource& source);
  absl::Status Backward(const PipelineShape& shape,
                        const PipelineAction& action, MicroBatchSource& source,
                        const LayerDone& done);

  const ModelLayout layout_;
  std::vector<Stage> chunks_;
  // Of the micro-batches in flight, by (chunk, micro-batch).
  std::map<std::pair<int, int64_t>, StageSaved> saved_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_PIPELINE_H_
