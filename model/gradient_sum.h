// Where a parameter's gradient is added up, and how one leaf is added (N5).
//
// What it is: the one thing that a backward pass knows of a gradient: a handle
// to its sum, and functions that add a micro-batch's leaves, be they products
// (weights of projections), rows (the embedding) or values that a kernel has
// left (norms, convolution, dt_bias, A_log, D). What it is not: the sum's
// memory (parameters.h), its exponent's history (gradient_grid.h), or a sum
// over ranks. Why so: the two ways of N5, fp32 leaves in ascending order and
// integers on a grid, differ here and nowhere else in the layers.
#ifndef LOCKSTEP_MODEL_GRADIENT_SUM_H_
#define LOCKSTEP_MODEL_GRADIENT_SUM_H_

#include <cstdint>

#include "determinism/operation.h"
#include "model/device.h"
#include "model/kernels/embedding/embedding.h"
#include "model/kernels/grid.h"
#include "model/kernels/matmul/matmul.h"

namespace lockstep {

enum class GradientMode : uint8_t {
  kLeafFp32,  // sum = sum + leaf in fp32, leaves ascending
  kGrid,      // sum = sum + RNE(leaf * 2^exponent) in int64
};

// Of one parameter tensor; its elements are those of the tensor in memory.
// Nothing is owned.
struct GradientSum {
  GradientMode mode = GradientMode::kLeafFp32;
  float* sum = nullptr;     // of kLeafFp32
  int64_t* grid = nullptr;  // of kGrid; stays as it is in a probe
  bool probe = false;       // only the maximum is taken
  int exponent = 0;
  GridStats* stats = nullptr;  // of kGrid: what the leaves were like
};

// The sum as traces and faults see it: F32, or I64 on its grid.
TensorRef GradientRef(std::string_view name, const GradientSum& gradient,
                      int64_t rows, int64_t cols);

// gradient [m, n] += dy_leaf x_leaf for each leaf in ascending order.
struct ProductLeaves {
  int64_t m = 0;
  int64_t n = 0;
  int64_t leaves = 0;
  int64_t rows_per_leaf = 0;  // positions of the contraction in one leaf
  MatrixRef dy = {};          // [m, leaves * rows_per_leaf]
  MatrixRef x = {};           // [leaves * rows_per_leaf, n]
};
void AddProductLeaves(Device& device, const GradientSum& gradient,
                      const ProductLeaves& leaves);

// gradient[i] += leaf[l * size + i] for l in [0, leaves) ascending.
void AddLeaves(Device& device, const GradientSum& gradient, const float* leaf,
               int64_t leaves, int64_t size);

// The embedding's table: each leaf's sums by id (embedding.h). `args.dtable`
// is not read.
void AddEmbeddingLeaves(Device& device, const GradientSum& gradient,
                        const EmbeddingBackwardArgs& args);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_GRADIENT_SUM_H_
