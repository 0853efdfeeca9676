// One rank of tensor_rig.h: its share of a model, and its run.

#ifndef TESTS_TENSOR_PARALLEL_TENSOR_RANK_H_
#define TESTS_TENSOR_PARALLEL_TENSOR_RANK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "determinism/operation.h"
#include "determinism/state.h"
#include "model/device.h"
#include "model/parameters.h"
#include "model/stage.h"
#include "model/tensor_axis.h"
#include "tests/tensor_parallel/tensor_rig.h"

namespace lockstep {

// Ids, labels, mask and documents, a function of the problem's sizes.
struct TensorBatch {
  explicit TensorBatch(const TensorProblem& problem);

  std::vector<int32_t> ids, labels, segments;
  std::vector<uint8_t> mask;
  std::vector<uint64_t> sample_ids;
};

// Calls fn(element of the whole tensor, element of what the rank holds) for
// each element held.
template <class Fn>
void ForHeldElements(const ParameterSpec& whole, int64_t degree, int64_t index,
                     Fn fn) {
  int64_t inner = 1, outer = 1;  // elements behind the cut dim, and before it
  const int dim = whole.split.dim < 0 ? 0 : whole.split.dim;
  const int rank = static_cast<int>(whole.shape.size());
  for (int d = dim + 1; d < rank; ++d) inner *= whole.shape[d];
  for (int d = 0; d < dim; ++d) outer *= whole.shape[d];
  const int64_t length = whole.shape[dim];
  const std::vector<HeldRange> ranges =
      whole.split.dim < 0 ? std::vector<HeldRange>{{0, length}}
                          : HeldRanges(whole.split, degree, index);
  int64_t held = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (const HeldRange& range : ranges) {
      for (int64_t i = range.begin * inner; i < range.end * inner; ++i) {
        fn(o * length * inner + i, held++);
      }
    }
  }
}

class TensorRank {
 public:
  TensorRank(const TensorProblem& problem, const TensorLayout& layout,
             TensorAxis& axis);

  // Weights of the whole model, by initialisation.
  void LoadWeights();
  absl::Status Train(const TensorBatch& batch);

  const std::vector<float>& losses() const { return losses_; }
  const ParameterStore& store() const { return store_; }
  int64_t flops() const { return device_.flops(); }

 private:
  const TensorProblem& problem_;
  TensorAxis& axis_;
  Device device_;
  OperationHooks hooks_;
  StateRegistry registry_;
  ParameterStore store_;
  Stage stage_;
  std::vector<float> losses_;
};

}  // namespace lockstep

#endif  // TESTS_TENSOR_PARALLEL_TENSOR_RANK_H_
