// One micro-batch of a model on ranks of a tensor axis, threads of this
// process, and what came out of it, put together again.
//
// For tests of layouts along one axis only: no optimizer, no data, no pipeline.
// Every rank has the weights of the same whole model, and ranks differ in their
// instruction set, so that a level that does not keep its bits shows too.

#ifndef TESTS_TENSOR_PARALLEL_TENSOR_RIG_H_
#define TESTS_TENSOR_PARALLEL_TENSOR_RIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/dtype.h"
#include "model/config.h"

namespace lockstep {

// What decides bits.
struct TensorProblem {
  ModelConfig config;
  DType storage = DType::kBF16;
  int64_t grid = 4;    // pads the vocabulary
  int64_t slices = 4;  // of every sum that is cut
  int64_t samples = 3;
  int64_t tokens = 40;
  bool resets = false;  // at documents (N14)
};

// What must not.
struct TensorLayout {
  int degree = 1;
  bool sequence_parallel = false;
  bool recompute = false;
};

struct TensorOutcome {
  std::vector<float> losses;  // [samples * tokens]
  // Of each parameter, in list order and unsharded: sums on the grid (N5).
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> gradients;
  std::vector<int64_t> flops;  // of each rank
};

// A model of every layer kind, whose slices are no multiples of 32, whose
// key/value heads are fewer than the slices, and whose last slices of the
// vocabulary are padding.
ModelConfig EveryLayerKind();

// Forward and backward. Expects that ranks agree where they hold the same: on
// losses, on copies of key/value heads, on norms. The error of an exchange, if
// one failed.
absl::StatusOr<TensorOutcome> RunTensorLayout(const TensorProblem& problem,
                                              const TensorLayout& layout);

// Bytes of losses and of every gradient.
void ExpectSameOutcome(const TensorOutcome& want, const TensorOutcome& got,
                       const std::string& what);

}  // namespace lockstep

#endif  // TESTS_TENSOR_PARALLEL_TENSOR_RIG_H_
