// The ranks of one tensor axis, as the layers of a model talk to them.
//
// What it is: the share of the slices that this rank has (N4), and the few
// exchanges a layer needs: sums of partial sums by the tree, the token slices
// of sequence parallelism, rows selected from whoever has them. What it is not:
// a transport, or the choice of slices. Why so: the order of every sum that a
// tensor degree could change is in this one place and in the matrix product
// (matmul.h), and nowhere in a layer.
//
// The residual stream of a rank has StreamRows(): with sequence parallelism the
// rank's token slice of each sample, samples in order; else all tokens.
//
// Layers have no way to fail, so an exchange that fails is remembered: status()
// has the first error, all later exchanges do nothing, and what they would have
// written is unspecified. Whoever drives a micro-batch asks before it uses any
// result. With one rank there are no exchanges, and asking for one is a bug.

#ifndef LOCKSTEP_MODEL_TENSOR_AXIS_H_
#define LOCKSTEP_MODEL_TENSOR_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/dtype.h"
#include "model/device.h"
#include "model/split.h"
#include "parallel/communicator.h"

namespace lockstep {

struct TensorAxisOptions {
  // Of the whole axis: grid.tensor in `layout_invariant`, the degree in other
  // rungs. A power of two that the degree divides, at most 64.
  int64_t slices = 1;
  bool sequence_parallel = false;
  // Neighbouring ranks that hold the same key/value head (split.h, CopiesOf).
  int64_t copies = 1;
  // Sums in whatever order is quickest: rungs below `bitwise` only.
  bool fast_sums = false;
};

// A residual stream before it is cut: [samples, tokens, width].
struct StreamShape {
  int64_t samples;
  int64_t tokens;
  int64_t width;

  int64_t rows() const { return samples * tokens; }
};

class TensorAxis {
 public:
  // One rank with all slices.
  explicit TensorAxis(int64_t slices);
  // Ranks of `communicator` (not owned, outlives the axis), in the order of
  // their slices. Collective. The options are checked where layouts are: a
  // wrong one is a bug.
  static absl::StatusOr<std::unique_ptr<TensorAxis>> Make(
      Communicator& communicator, const TensorAxisOptions& options);

  const TensorShare& share() const { return share_; }
  bool alone() const { return share_.degree == 1; }
  bool sequence_parallel() const { return sequence_parallel_; }
  int64_t copies() const { return copies_; }
  // Tokens of a sample in this rank's residual stream, and the first of them.
  int64_t StreamTokens(int64_t tokens) const {
    return sequence_parallel_ ? tokens / share_.degree : tokens;
  }
  int64_t FirstToken(int64_t tokens) const {
    return sequence_parallel_ ? share_.index * StreamTokens(tokens) : 0;
  }
  int64_t StreamRows(const StreamShape& shape) const {
    return shape.samples * StreamTokens(shape.tokens);
  }

  const absl::Status& status() const { return status_; }

  // The tree's sum over ranks of `partial` fp32 [rows, width], which is used
  // up, rounded once: out [StreamRows, width], contiguous.
  void SumStream(Device& device, const StreamShape& shape, float* partial,
                 void* out, DType out_dtype);
  // whole [rows, width] from every rank's [StreamRows, width]; only with
  // sequence parallelism. Bytes are copied.
  void GatherTokens(Device& device, const StreamShape& shape, DType dtype,
                    const void* slice, void* whole);
  // `whole` [rows, width] has bits other than zero in a row on one rank at
  // most; out [StreamRows, width] gets them. Integers are added, so the bits
  // are those of the owner, -0 and NaN included. May be `whole` itself without
  // sequence parallelism.
  void SelectStream(Device& device, const StreamShape& shape, DType dtype,
                    const void* whole, void* out);

  // In place, element by element: the tree's sum over all ranks, over the ranks
  // with copies of one key/value head, and the maximum (NaN if any is).
  void Sum(std::span<float> values);
  void SumCopies(std::span<float> values);
  void Max(std::span<float> values);

 private:
  TensorAxis(Communicator& communicator, const TensorAxisOptions& options);

  void AllReduce(Communicator& communicator, std::span<float> values);
  void ReduceScatter(std::span<float> values);
  int64_t PartBytes(const StreamShape& shape, DType dtype) const;
  // Rows [samples, tokens] to and from one part a rank, `stride` bytes apart.
  void ToParts(const StreamShape& shape, DType dtype, int64_t stride,
               const void* whole, std::byte* parts) const;
  void FromParts(const StreamShape& shape, DType dtype, int64_t stride,
                 const std::byte* parts, void* whole) const;

  Communicator* communicator_ = nullptr;  // null if alone
  std::unique_ptr<Communicator> copy_ranks_;
  TensorShare share_;
  bool sequence_parallel_ = false;
  int64_t copies_ = 1;
  bool fast_sums_ = false;
  absl::Status status_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_TENSOR_AXIS_H_
