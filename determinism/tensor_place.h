// Where the elements that a rank has of a tensor lie in the unsharded one.
//
// What it is: the walk from memory to the unsharded tensor, run by run, and the
// way back, for one element. What it is not: a decision about who holds what;
// a TensorRef says that. Why so: a fault names an element and a trace hashes
// all of them by their place in the whole (N11); both must mean the same place,
// or two layouts could not be compared.

#ifndef DETERMINISM_TENSOR_PLACE_H_
#define DETERMINISM_TENSOR_PLACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "determinism/operation.h"

namespace lockstep {

const std::vector<int64_t>& UnshardedShape(const TensorRef& tensor);

// Elements that are contiguous here and in the unsharded tensor.
struct TensorRun {
  const void* data;
  int64_t element;  // the first one's, row-major in the unsharded tensor
  int64_t count;
};

// In the order of memory, each element of the tensor once.
void ForEachRun(const TensorRef& tensor,
                const std::function<void(const TensorRun&)>& run);

// Row-major position, in what is here, of an element of the unsharded tensor;
// nothing if it is elsewhere. `whole_rows`: of the first element here in the
// element's row.
std::optional<int64_t> PositionHere(const TensorRef& tensor, int64_t element,
                                    bool whole_rows = false);

}  // namespace lockstep

#endif  // DETERMINISM_TENSOR_PLACE_H_
