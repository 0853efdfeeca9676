// Tells the hooks about one finished operation of the model.
//
// What it is: the small adapter between tensors here and OperationEvent, used
// after every operation so that traces and planted faults meet all of them.
// What it is not: a recorder. Why so: with no observer it costs one branch,
// and an observer cannot change the order of anything (N12).
#ifndef LOCKSTEP_MODEL_OBSERVE_H_
#define LOCKSTEP_MODEL_OBSERVE_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "determinism/operation.h"
#include "model/split.h"
#include "model/step_context.h"
#include "model/tensor.h"

namespace lockstep {

// Where an operation stands: scope is the module path without "backbone.".
struct OperationName {
  std::string_view scope;      // "layers.3.mixer"
  std::string_view operation;  // "in_proj"
};

// What a rank computes with, a whole tensor, and a block of rows inside a wider
// row.
TensorRef Ref(std::string_view name, const Tensor& tensor);
TensorRef Ref(std::string_view name, DType dtype, const void* data,
              int64_t rows, int64_t cols, int64_t row_stride);

// `ref`, said to have of dim `dim` what `held` says.
TensorRef Cut(TensorRef ref, size_t dim, const HeldDim& held);
// `ref` [stream rows, ...], a residual stream: of each sample the tokens that
// the rank has. With `samples`, of so many of the micro-batch's (0: all).
TensorRef StreamRef(const StepContext& context, TensorRef ref,
                    int64_t samples = 0);

void Observe(const StepContext& context, const OperationName& name,
             std::initializer_list<TensorRef> inputs,
             std::initializer_list<TensorRef> outputs);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_OBSERVE_H_
