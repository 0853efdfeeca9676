#include "model/linear.h"

#include "determinism/check.h"
#include "model/kernels/matmul/matmul.h"

namespace lockstep {
namespace {

// Each part's rows are columns of dy.
void WeightGradient(const StepContext& context, const LinearWeight& weight,
                    const void* x, const void* dy) {
  const auto bytes = static_cast<int64_t>(SizeOf(weight.dtype));
  const char* columns = static_cast<const char*>(dy);
  for (const LinearPart& part : weight.parts) {
    AddProductLeaves(
        context.device, *part.gradient,
        {.m = part.rows,
         .n = weight.in,
         .leaves = context.leaves(),
         .rows_per_leaf = context.samples_per_leaf * context.tokens,
         .dy = {columns, weight.dtype, 1, weight.out},
         .x = {x, weight.dtype, weight.in, 1}});
    columns += part.rows * bytes;
  }
}

}  // namespace

LinearWeight WeightOf(const Parameter& parameter) {
  return FusedWeight(parameter, parameter);
}

LinearWeight FusedWeight(const Parameter& first, const Parameter& last) {
  LinearWeight weight = {
      first.spec.runtime_dtype, first.runtime, {}, 0, first.spec.shape[1]};
  const auto bytes = static_cast<int64_t>(SizeOf(weight.dtype));
  for (const Parameter* p = &first; p <= &last; ++p) {
    LS_CHECK_EQ(p->spec.shape[1], weight.in);
    LS_CHECK(p->runtime == static_cast<const char*>(first.runtime) +
                               weight.out * weight.in * bytes)
        << p->spec.name << " does not follow the one before";
    weight.parts.push_back({&p->gradient, p->spec.shape[0]});
    weight.out += p->spec.shape[0];
  }
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
           GradientRef("dweight", *weight.parts[0].gradient, weight.out,
                       weight.in)});
}

}  // namespace lockstep
