#include "model/observe.h"

#include <utility>

namespace lockstep {

TensorRef Ref(std::string_view name, const Tensor& tensor) {
  return {name, tensor.dtype(), tensor.shape(), const_cast<void*>(tensor.raw()),
          0};
}

TensorRef Ref(std::string_view name, DType dtype, const void* data,
              int64_t rows, int64_t cols, int64_t row_stride) {
  const auto bytes = static_cast<int64_t>(SizeOf(dtype));
  return {
      name, dtype, {rows, cols}, const_cast<void*>(data), row_stride * bytes};
}

TensorRef Cut(TensorRef ref, size_t dim, const HeldDim& held) {
  if (held.ranges.empty()) return ref;
  if (ref.global_shape.empty()) {
    ref.global_shape = ref.shape;
    ref.held.resize(ref.shape.size());
  }
  ref.global_shape[dim] = held.length;
  ref.held[dim] = held.ranges;
  return ref;
}

TensorRef StreamRef(const StepContext& context, TensorRef ref,
                    int64_t samples) {
  if (!context.sequence_parallel()) return ref;
  if (samples == 0) samples = context.samples;
  const int64_t first = context.tensor->FirstToken(context.tokens);
  HeldDim held = {.length = samples * context.tokens};
  for (int64_t sample = 0; sample < samples; ++sample) {
    const int64_t begin = sample * context.tokens + first;
    held.ranges.push_back({begin, begin + context.stream_tokens()});
  }
  return Cut(std::move(ref), 0, held);
}

void Observe(const StepContext& context, const OperationName& name,
             std::initializer_list<TensorRef> inputs,
             std::initializer_list<TensorRef> outputs) {
  if (!context.hooks.active()) return;
  OperationEvent event;
  event.step = context.step;
  event.attempt = context.attempt;
  event.phase = context.phase;
  event.scope = name.scope;
  event.operation = name.operation;
  event.micro_batch = context.micro_batch;
  event.sample_ids = context.sample_ids;
  if (!event.sample_ids.empty()) event.first_sample = event.sample_ids.front();
  event.occurrence = 0;
  event.inputs = {inputs.begin(), inputs.size()};
  event.outputs = {outputs.begin(), outputs.size()};
  const std::vector<KernelRun> kernels = context.device.TakeKernels();
  event.kernels = kernels;
  event.threads = context.device.threads().threads();
  context.hooks.Notify(event);
}

}  // namespace lockstep
