// Gradients from all replicas to the owners of the rows, and weights back.
//
// What it is: the sums' reduce-scatter over the data axis in buckets
// (gradient_buckets.h), whose parts are the rows that a rank owns, and after
// the update an all-gather of the run-time weights that the owners made (N10:
// one conversion, by one rank). What it is not: the norm or the decision to
// apply a step. Why so: the sums are integers, which add up the same in any
// order (N5), or fp32 in the order of the ranks; below `bitwise` they are
// whatever is quickest. A pass that is made again (N5) may have sent its
// buckets: they are waited for and forgotten, since every rank has sent them.
#ifndef LOCKSTEP_MODEL_GRADIENT_REDUCTION_H_
#define LOCKSTEP_MODEL_GRADIENT_REDUCTION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "model/gradient_buckets.h"
#include "model/model_layout.h"
#include "model/parameters.h"

namespace lockstep {

class GradientReduction {
 public:
  // All borrowed.
  GradientReduction(ParameterStore& store, const ModelLayout& layout,
                    const BucketOptions& options);

  // Before a pass adds to the sums. `early`: buckets are sent during backward;
  // the same on every rank. Ends what an earlier pass has sent.
  absl::Status BeginPass(bool early);
  // Of the last micro-batch: see GradientBuckets.
  void LayerDone(int64_t layer);
  // This rank has added all that it adds.
  void EndPass();
  // Collective over each axis, after EndPass. Afterwards the owned rows of each
  // sum are those of all samples; the other rows are of no use.
  absl::Status Reduce();

  // Every rank has the run-time weights of all rows that it holds.
  absl::Status GatherWeights();

 private:
  absl::Status ReduceTokenSlices();

  ParameterStore& store_;
  const ModelLayout layout_;
  const BucketOptions options_;
  // Absent with one replica. Tensors whose leaves are token slices of several
  // tensor ranks are summed over those first, and so go after backward.
  std::optional<GradientBuckets> buckets_, sliced_;
  bool early_ = false;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_GRADIENT_REDUCTION_H_
