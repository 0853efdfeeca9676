// Gradients from all replicas to the owners of the rows, and weights back.
//
// What it is: for each tensor a reduce-scatter of its sums over the data axis,
// whose parts are the rows that a rank owns, and after the update an all-gather
// of the run-time weights that the owners made (N10: one conversion, by one
// rank). What it is not: the norm or the decision to apply a step. Why so: the
// sums are integers, which add up the same in any order (N5), or fp32 in the
// order of the ranks; below `bitwise` they are whatever is quickest.
#ifndef LOCKSTEP_MODEL_GRADIENT_REDUCTION_H_
#define LOCKSTEP_MODEL_GRADIENT_REDUCTION_H_

#include "absl/status/status.h"
#include "model/model_layout.h"
#include "model/parameters.h"

namespace lockstep {

class GradientReduction {
 public:
  // `fast_sums`: for rungs below `bitwise`. All borrowed.
  GradientReduction(ParameterStore& store, const ModelLayout& layout,
                    bool fast_sums);

  // Collective over each axis. Afterwards the owned rows of each sum are those
  // of all samples; the other rows are of no use.
  absl::Status Reduce();
  // Every rank has the run-time weights of all rows that it holds.
  absl::Status GatherWeights();

 private:
  absl::Status ReduceTokenSlices(Parameter& parameter);
  absl::Status ReduceReplicas(Parameter& parameter, int64_t number);

  ParameterStore& store_;
  const ModelLayout layout_;
  const bool fast_sums_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_GRADIENT_REDUCTION_H_
