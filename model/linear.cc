#include "model/linear.h"

#include "determinism/check.h"
#include "model/kernels/matmul/matmul.h"

namespace lockstep {
namespace {

const char* At(const void* data, DType dtype, int64_t elements) {
  return static_cast<const char*>(data) +
         elements * static_cast<int64_t>(SizeOf(dtype));
}

void WeightGradient(const StepContext& context, const LinearWeight& weight,
                    const void* x, const void* dy) {
  const int64_t rows = context.samples_per_leaf * context.tokens;
  for (int64_t leaf = 0; leaf < context.leaves(); ++leaf) {
    const void* dy_leaf = At(dy, weight.dtype, leaf * rows * weight.out);
    const void* x_leaf = At(x, weight.dtype, leaf * rows * weight.in);
    Matmul(context.device, {.m = weight.out,
                            .n = weight.in,
                            .k = rows,
                            .a = {dy_leaf, weight.dtype, 1, weight.out},
                            .b = {x_leaf, weight.dtype, weight.in, 1},
                            .c = weight.grad,
                            .c_dtype = DType::kF32,
                            .c_row_stride = weight.in,
                            .accumulate = true});
  }
}

}  // namespace

LinearWeight WeightOf(const Parameter& parameter) {
  return {parameter.spec.runtime_dtype, parameter.runtime, parameter.grad,
          parameter.spec.shape[0], parameter.spec.shape[1]};
}

LinearWeight FusedWeight(const Parameter& first, const Parameter& last) {
  LinearWeight weight = WeightOf(first);
  weight.out = (last.grad - first.grad) / weight.in + last.spec.shape[0];
  LS_CHECK_EQ(last.spec.shape[1], weight.in);
  LS_CHECK_EQ((last.grad - first.grad) % weight.in, 0);
  return weight;
}

void LinearForward(const StepContext& context, const OperationName& name,
                   const LinearWeight& weight, const void* x, void* y) {
  const DType dtype = weight.dtype;
  Matmul(context.device, {.m = context.rows(),
                          .n = weight.out,
                          .k = weight.in,
                          .a = {x, dtype, weight.in, 1},
                          .b = {weight.runtime, dtype, 1, weight.in},
                          .c = y,
                          .c_dtype = dtype,
                          .c_row_stride = weight.out});
  Observe(
      context, name,
      {Ref("x", dtype, x, context.rows(), weight.in, weight.in),
       Ref("weight", dtype, weight.runtime, weight.out, weight.in, weight.in)},
      {Ref("y", dtype, y, context.rows(), weight.out, weight.out)});
}

void LinearBackward(const StepContext& context, const OperationName& name,
                    const LinearWeight& weight, const void* x, const void* dy,
                    void* dx) {
  const DType dtype = weight.dtype;
  Matmul(context.device, {.m = context.rows(),
                          .n = weight.in,
                          .k = weight.out,
                          .a = {dy, dtype, weight.out, 1},
                          .b = {weight.runtime, dtype, weight.in, 1},
                          .c = dx,
                          .c_dtype = dtype,
                          .c_row_stride = weight.in});
  WeightGradient(context, weight, x, dy);
  Observe(context, name,
          {Ref("dy", dtype, dy, context.rows(), weight.out, weight.out),
           Ref("x", dtype, x, context.rows(), weight.in, weight.in)},
          {Ref("dx", dtype, dx, context.rows(), weight.in, weight.in),
           Ref("dweight", DType::kF32, weight.grad, weight.out, weight.in,
               weight.in)});
}

void AddLeaves(const Tensor& leaves, int64_t size, float* grad) {
  const float* leaf = leaves.data<float>();
  const int64_t count = leaves.count() / size;
  for (int64_t l = 0; l < count; ++l, leaf += size) {
    for (int64_t i = 0; i < size; ++i) grad[i] += leaf[i];
  }
}

}  // namespace lockstep
