// The held-out samples of one data source, as micro-batches of this rank.
//
// What it is: what a pipeline needs to evaluate them, and the exact totals of
// what comes out. What it is not: the merging over ranks (evaluation.h). Why
// so: replicas share out whole micro-batches, as in training.
#ifndef LOCKSTEP_TOOLS_EVALUATION_SOURCE_H_
#define LOCKSTEP_TOOLS_EVALUATION_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/dataset.h"
#include "determinism/exact_sum.h"
#include "model/pipeline.h"
#include "parallel/replica_share.h"
#include "tools/stepper.h"

namespace lockstep {

struct EvaluationTotals {
  ExactSum loss;
  // Over samples with labels that count, l the sum of a sample's losses and n
  // their number: l^2, l n and n^2, for the standard error of the mean.
  ExactSum squares, products;
  int64_t count_squares = 0;
  int64_t measured = 0;  // such samples
  int64_t samples = 0;
  int64_t tokens = 0;
  int64_t bytes = 0;
  int64_t foreign = 0;  // labels that the tokenizer has no text for
  std::string text;
};

// The last micro-batch may be smaller: samples do not see each other (N1).
class EvaluationSource : public MicroBatchSource {
 public:
  // All borrowed.
  EvaluationSource(Stepper& stepper, int64_t source, int64_t samples,
                   int64_t micro_batch, EvaluationTotals& totals);

  int64_t count() const override { return share_.micro_batches; }
  // Reads a micro-batch, before anything is computed of it.
  absl::Status Load(int64_t micro_batch);
  StepContext Context(int64_t micro_batch) override;
  MicroBatch Batch(int64_t) override {
    return {ids_.data(), {labels_.data(), mask_.data()}};
  }
  void TakeLosses(int64_t micro_batch, const Tensor& loss_R) override;
  // Reads the next one.
  absl::Status Finished(int64_t micro_batch) override;

 private:
  // One sample's losses, in the order of its tokens.
  void TakeSample(const float* loss, size_t first, int64_t tokens);
  int64_t FirstSample(int64_t micro_batch) const {
    return (share_.first_micro_batch + micro_batch) * micro_;
  }
  int64_t SamplesOf(int64_t micro_batch) const;

  Stepper& stepper_;
  const Dataset& data_;
  const int64_t source_, samples_, micro_;
  const ReplicaShare share_;
  EvaluationTotals& totals_;
  OperationHooks none_;
  std::vector<int32_t> rows_, ids_, labels_, segments_;
  std::vector<uint8_t> mask_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_EVALUATION_SOURCE_H_
