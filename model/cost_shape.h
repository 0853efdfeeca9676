// The sizes that a layer's memory and exchanges follow from, on one tensor
// rank.
//
// What it is: a micro-batch and the share of the model that one rank of a
// tensor degree computes it with, as numbers. What it is not: a layout, a
// check of one, or memory. Why so: what a layout costs must be known before
// anything is allocated, for layouts that this machine could never hold; so
// whoever counts bytes (activation_memory.h) or messages (tensor_traffic.h)
// starts from the same sizes, made in one place.
#ifndef LOCKSTEP_MODEL_COST_SHAPE_H_
#define LOCKSTEP_MODEL_COST_SHAPE_H_

#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/guarantee.h"
#include "model/config.h"
#include "parallel/state_sharding.h"

namespace lockstep {

// What costs depend on beside the model and the layout.
struct CostOptions {
  Guarantee guarantee = Guarantee::kBitwise;
  DType storage = DType::kF32;
  int64_t tensor_grid = 1;       // grid.tensor
  int64_t samples_per_leaf = 1;  // grid.leaf
  int64_t micro = 1;             // samples of a micro-batch
  int64_t tokens = 1;            // of a sample
  bool recompute = false;
  bool sequence_parallel = false;
  int64_t bucket_bytes = kDefaultBucketBytes;  // of gradients that go together
};

// Counts are doubles, so that a recipe of absurd sizes gives an absurd number
// and not a wrapped one; below 2^53 they are exact.
struct CostShape {
  ModelConfig held;  // of one tensor rank; hidden and vocab are whole
  double element;    // bytes of the storage dtype
  double degree;     // of the tensor axis
  double slices;
  double copies;  // ranks with the same key/value head
  // Slices of such a head that a rank adds up; 0: heads are not cut.
  double kv_slices;
  double vocab_columns;  // of the padded vocabulary, here
  double samples, tokens, samples_per_leaf;
  bool grid;  // gradients are integers
  bool recompute;
  bool sequence;  // parallel, and there are several ranks

  double rows() const { return samples * tokens; }
  double leaves() const { return samples / samples_per_leaf; }
  double leaf_rows() const { return samples_per_leaf * tokens; }
  double stream_rows() const { return sequence ? rows() / degree : rows(); }
  double hidden() const { return static_cast<double>(held.hidden); }
  // Bytes of a residual stream of all tokens, and of what a rank has of it.
  double whole_stream() const { return rows() * hidden() * element; }
  double stream() const { return stream_rows() * hidden() * element; }
};

// `degree` has passed the checks of layouts (tools/layout_check.h).
CostShape ShapeOfCosts(const ModelConfig& model, const CostOptions& options,
                       int64_t degree);

// The vocabulary is padded to what grid and degree can cut (N4).
int64_t VocabularyCuts(const CostOptions& options, int64_t degree);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_COST_SHAPE_H_
