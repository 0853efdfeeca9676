#include "model/observe.h"

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
  context.hooks.Notify(event);
}

}  // namespace lockstep
