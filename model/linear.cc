#include "model/linear.h"

#include <string_view>
#include <utility>

#include "determinism/check.h"
#include "model/tensor.h"

namespace lockstep {
namespace {

// Each parameter's rows are columns of dy.
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

// The slices held, over parameters whose cut dims lie back to back.
HeldSlices SlicesOf(const Parameter& first, const Parameter& last,
                    const TensorShare& share) {
  HeldSlices held;
  if (share.slices == 1 || first.spec.split.dim < 0) return held;
  held.count = share.held();
  for (int64_t slice = 0; slice < held.count; ++slice) {
    int64_t offset = 0;
    for (const Parameter* p = &first; p <= &last; ++p) {
      for (const HeldRange& part : SliceMemory(p->spec.split, share, slice)) {
        held.segments.push_back({offset + part.begin, offset + part.end});
      }
      offset += HeldMemory(p->spec.split, share.degree);
    }
  }
  held.segments_per = static_cast<int64_t>(held.segments.size()) / held.count;
  return held;
}

// What is held of a fused weight's cut dim.
HeldDim FusedHeld(const Parameter& first, const Parameter& last,
                  const TensorShare& share) {
  HeldDim fused;
  for (const Parameter* p = &first; p <= &last; ++p) {
    const HeldDim part = HeldOf(p->spec.split, share);
    for (const HeldRange& range : part.ranges) {
      fused.ranges.push_back(
          {fused.length + range.begin, fused.length + range.end});
    }
    fused.length += part.length;
  }
  return fused;
}

TensorRef CutWeight(TensorRef ref, const LinearWeight& weight) {
  if (weight.cut_dim < 0) return ref;
  return Cut(std::move(ref), static_cast<size_t>(weight.cut_dim), weight.held);
}

enum class Side { kInput, kOutput };

// Rows of the input's or output's width. `stream`: a residual stream.
TensorRef RowsRef(const StepContext& context, const LinearWeight& weight,
                  Side side, std::string_view name, const void* data,
                  bool stream) {
  const bool output = side == Side::kOutput;
  const int64_t rows = stream ? context.stream_rows() : context.rows();
  const int64_t width = output ? weight.out : weight.in;
  const TensorRef ref = Cut(Ref(name, weight.dtype, data, rows, width, width),
                            1, output ? weight.held_out() : weight.held_in());
  return stream ? StreamRef(context, ref) : ref;
}

// c [m, n] = a . b, rounded once. `cut`: over the slices that are held.
void MultiplyHeld(const StepContext& context, const LinearWeight& weight,
                  bool cut, MatmulArgs args) {
  args.c_row_stride = args.n;
  std::vector<KSlice> slices;
  for (int64_t s = 0; cut && s < weight.slices.count; ++s) {
    slices.push_back(
        {weight.slices.segments.data() + s * weight.slices.segments_per,
         weight.slices.segments_per});
  }
  args.slices = slices.data();
  args.slice_count = static_cast<int64_t>(slices.size());
  Matmul(context.device, args);
}

// In the weight's dtype. `cut`: over all slices of all ranks, c being a stream.
void Multiply(const StepContext& context, const LinearWeight& weight, bool cut,
              MatmulArgs args, void* c) {
  args.m = context.rows();
  args.c = c;
  args.c_dtype = weight.dtype;
  if (!cut || context.share().degree == 1) {
    return MultiplyHeld(context, weight, cut, args);
  }
  Tensor partial =
      Tensor::Uninit(context.device, DType::kF32, {args.m, args.n});
  args.c = partial.raw();
  args.c_dtype = DType::kF32;
  MultiplyHeld(context, weight, cut, args);
  context.tensor->SumStream(context.device,
                            {context.samples, context.tokens, args.n},
                            partial.data<float>(), c, weight.dtype);
}

// dx = dy W.
MatmulArgs InputGradientOf(const LinearWeight& weight, const void* dy) {
  return {.n = weight.in,
          .k = weight.out,
          .a = {dy, weight.dtype, weight.out, 1},
          .b = {weight.runtime, weight.dtype, weight.in, 1}};
}

}  // namespace

LinearWeight WeightOf(const Parameter& parameter, const TensorShare& share) {
  return FusedWeight(parameter, parameter, share);
}

LinearWeight FusedWeight(const Parameter& first, const Parameter& last,
                         const TensorShare& share) {
  LinearWeight weight = {.dtype = first.spec.runtime_dtype,
                         .runtime = first.runtime,
                         .parts = {},
                         .out = 0,
                         .in = first.shape[1],
                         .cut_dim = first.spec.split.dim,
                         .slices = SlicesOf(first, last, share),
                         .held = FusedHeld(first, last, share)};
  const auto bytes = static_cast<int64_t>(SizeOf(weight.dtype));
  for (const Parameter* p = &first; p <= &last; ++p) {
    LS_CHECK_EQ(p->shape[1], weight.in);
    LS_CHECK(p->runtime == static_cast<const char*>(first.runtime) +
                               weight.out * weight.in * bytes)
        << p->spec.name << " does not follow the one before";
    weight.parts.push_back({&p->gradient, p->shape[0]});
    weight.out += p->shape[0];
  }
  return weight;
}

void LinearForward(const StepContext& context, const OperationName& name,
                   const LinearWeight& weight, const void* x, void* y) {
  const DType dtype = weight.dtype;
  const bool cut = weight.cut_dim == 1;
  Multiply(context, weight, cut,
           {.n = weight.out,
            .k = weight.in,
            .a = {x, dtype, weight.in, 1},
            .b = {weight.runtime, dtype, 1, weight.in}},
           y);
  Observe(context, name,
          {RowsRef(context, weight, Side::kInput, "x", x, false),
           CutWeight(Ref("weight", dtype, weight.runtime, weight.out, weight.in,
                         weight.in),
                     weight)},
          {RowsRef(context, weight, Side::kOutput, "y", y, cut)});
}

void InputGradientRows(const StepContext& context, const LinearWeight& weight,
                       int64_t rows, const void* dy, void* dx, DType dx_dtype) {
  MatmulArgs args = InputGradientOf(weight, dy);
  args.m = rows;
  args.c = dx;
  args.c_dtype = dx_dtype;
  MultiplyHeld(context, weight, weight.cut_dim == 0, args);
}

void LinearBackward(const StepContext& context, const OperationName& name,
                    const LinearWeight& weight, const void* x, const void* dy,
                    void* dx) {
  Multiply(context, weight, weight.cut_dim == 0, InputGradientOf(weight, dy),
           dx);
  WeightGradient(context, weight, x, dy);
  Observe(
      context, name,
      {RowsRef(context, weight, Side::kOutput, "dy", dy, false),
       RowsRef(context, weight, Side::kInput, "x", x, false),
       CutWeight(Ref("weight", weight.dtype, weight.runtime, weight.out,
                     weight.in, weight.in),
                 weight)},
      {RowsRef(context, weight, Side::kInput, "dx", dx, weight.cut_dim == 0),
       CutWeight(GradientRef("dweight_sum", *weight.parts[0].gradient,
                             weight.out, weight.in),
                 weight)});
}

}  // namespace lockstep
