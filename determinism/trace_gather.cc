// What a trace has of a phase or a module as a whole.
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "determinism/trace_writer.h"

namespace lockstep {
namespace {

bool IsPass(Phase phase) {
  return phase == Phase::kForward || phase == Phase::kRecompute ||
         phase == Phase::kBackward;
}

// What a difference inside a module comes out by: residual streams and their
// gradients, and the losses; of each operation the first output. Gradients of
// weights come with their reduction, and logits, which are large, with the
// losses. An update hands run-time weights on, its last output; masters and
// moments, seven times as much, are in the step's own fields.
std::span<const TensorRef> HandedOver(const OperationEvent& event) {
  if (event.phase == Phase::kOptimizer) {
    return event.outputs.last(std::min<size_t>(1, event.outputs.size()));
  }
  if (!IsPass(event.phase)) return event.outputs;
  const bool inside =
      event.scope.ends_with(".mixer") ||
      (event.operation == "logits" && event.phase != Phase::kBackward);
  return event.outputs.first(
      inside ? 0 : std::min<size_t>(1, event.outputs.size()));
}

}  // namespace

// Fingerprints of outputs alone: nothing else is written.
void TraceWriter::Gather(const OperationEvent& event) {
  const bool modules = options_.level == TraceLevel::kModule;
  std::vector<TensorFingerprint> outputs;
  for (const TensorRef& tensor : modules ? event.outputs : HandedOver(event)) {
    outputs.push_back(FingerprintOf(tensor, options_.loop));
  }
  in_phase_.Add(event, outputs);
  if (!modules) return;
  auto module = std::find_if(
      in_modules_.begin(), in_modules_.end(),
      [&](const auto& known) { return known.first == event.scope; });
  if (module == in_modules_.end()) {
    in_modules_.emplace_back(event.scope, Gathered());
    module = std::prev(in_modules_.end());
  }
  module->second.Add(event, outputs);
}

void TraceWriter::Gathered::Add(const OperationEvent& event,
                                const std::vector<TensorFingerprint>& outputs) {
  for (const TensorFingerprint& output : outputs) {
    // The running number keeps names distinct and makes the order count.
    std::string name = std::to_string(tensors.size());
    name.append(" ").append(event.scope).append(" ").append(event.operation);
    name.append(" ").append(output.name);
    tensors.push_back(
        {std::move(name), output.dtype, output.shape, output.value});
  }
  ++operations;
}

void TraceWriter::EndPhase() {
  for (auto& [scope, module] : in_modules_) {
    trace::Record record = phase_.NewRecord();
    record.mutable_module_end()->set_scope(scope);
    record.mutable_module_end()->set_operations(module.operations);
    record.mutable_module_end()->set_fingerprint(
        FieldFingerprint(std::move(module.tensors)));
    Write(record);
  }
  in_modules_.clear();
  trace::Record record = phase_.NewRecord();
  record.mutable_phase_end()->set_operations(in_phase_.operations);
  record.mutable_phase_end()->set_fingerprint(
      FieldFingerprint(std::move(in_phase_.tensors)));
  in_phase_ = {};
  Write(record);
}

}  // namespace lockstep
