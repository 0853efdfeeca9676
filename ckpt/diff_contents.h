// The bytes of one tensor in two checkpoints. Inside ckpt only.
#ifndef CKPT_DIFF_CONTENTS_H_
#define CKPT_DIFF_CONTENTS_H_

#include "absl/status/status.h"
#include "ckpt/diff.h"
#include "ckpt/tensor_parts.h"

namespace lockstep {

class ContentDiff {
 public:
  // Borrowed.
  ContentDiff(CheckpointReader& a, CheckpointReader& b) : a_(a), b_(b) {}

  // Fills in what "contents" has, of the tensor of that name, which both have
  // in one type and, unless it is a list of bytes, one shape. What is read is
  // held against the fingerprints of the indices (NoUsableCheckpoint).
  absl::Status Run(TensorDifference& d);

 private:
  absl::Status RunParts(const IndexTensor& a, const IndexTensor& b,
                        TensorDifference& d);
  absl::Status RunBytes(const IndexTensor& a, const IndexTensor& b,
                        TensorDifference& d);

  CheckpointReader& a_;
  CheckpointReader& b_;
};

}  // namespace lockstep

#endif  // CKPT_DIFF_CONTENTS_H_
