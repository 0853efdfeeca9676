#include "tools/saved_operation/kept.h"

#include "determinism/tensor_place.h"

namespace lockstep {

KeptTensor KeptOf(const TensorRef& tensor) {
  KeptTensor kept = {.name = std::string(tensor.name),
                     .dtype = tensor.dtype,
                     .shape = tensor.shape,
                     .bytes = {}};
  const size_t bytes = SizeOf(tensor.dtype);
  ForEachRun(tensor, [&](const TensorRun& run) {
    kept.bytes.append(static_cast<const char*>(run.data),
                      static_cast<size_t>(run.count) * bytes);
  });
  return kept;
}

void OperationKeeper::OnOperation(const OperationEvent& event) {
  if (event.step != wanted_.step || event.attempt != wanted_.attempt ||
      NameOf(event.phase) != wanted_.phase || event.scope != wanted_.scope ||
      event.operation != wanted_.operation ||
      event.first_sample != wanted_.first_sample ||
      seen_++ != wanted_.occurrence) {
    return;
  }
  found_ = true;
  micro_batch_ = event.micro_batch;
  samples_.assign(event.sample_ids.begin(), event.sample_ids.end());
  for (const TensorRef& tensor : event.inputs) {
    inputs_.push_back(KeptOf(tensor));
  }
  for (const TensorRef& tensor : event.outputs) {
    outputs_.push_back(KeptOf(tensor));
  }
}

}  // namespace lockstep
