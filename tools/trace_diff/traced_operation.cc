#include "tools/trace_diff/traced_operation.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "determinism/operation.h"

namespace lockstep {
namespace {

// A field's value in place of lanes: what is compared is whether it is equal.
Fingerprint PrintOfText(const std::string& text) {
  return FingerprintBytes(text.data(), text.size());
}

TracedTensor TensorOf(const trace::Tensor& tensor) {
  TracedTensor traced = {
      .name = tensor.name(),
      .dtype = tensor.dtype(),
      .shape = {tensor.shape().begin(), tensor.shape().end()},
      .global_shape = {tensor.global_shape().begin(),
                       tensor.global_shape().end()},
      .held = {},
      .value = {{tensor.lane0(), tensor.lane1()}}};
  for (const trace::HeldDim& dim : tensor.held()) {
    traced.held.emplace_back(dim.bounds().begin(), dim.bounds().end());
  }
  if (tensor.has_values()) {
    const trace::TensorValues& values = tensor.values();
    traced.values = {
        .absmax = values.absmax(),
        .rms = values.rms(),
        .non_finite = values.non_finite(),
        .elements = {values.elements().begin(), values.elements().end()},
        .sample = {values.sample().begin(), values.sample().end()},
        .contents = values.contents()};
  }
  return traced;
}

TracedTensor FieldOf(const std::string& name, const std::string& value) {
  return {.name = name,
          .dtype = "",
          .shape = {},
          .global_shape = {},
          .held = {},
          .value = PrintOfText(value)};
}

// Of a micro-batch; an update or a sum over ranks is the whole step's.
bool IsOfSamples(const std::string& phase) {
  return phase == NameOf(Phase::kForward) ||
         phase == NameOf(Phase::kRecompute) ||
         phase == NameOf(Phase::kBackward) || phase == NameOf(Phase::kMessage);
}

}  // namespace

int64_t TracedTensor::count() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

std::string ToString(const OperationIdentity& id) {
  std::string text = absl::StrCat("step ", id.step);
  if (id.attempt > 0) absl::StrAppend(&text, ", attempt ", id.attempt);
  if (!id.phase.empty()) absl::StrAppend(&text, ", ", id.phase);
  absl::StrAppend(&text, ", ", id.scope, id.scope.empty() ? "" : ".",
                  id.operation);
  if (IsOfSamples(id.phase)) {
    absl::StrAppend(&text, ", sample ", id.first_sample);
  }
  if (id.occurrence > 0) {
    absl::StrAppend(&text, ", occurrence ", id.occurrence + 1);
  }
  return text;
}

TracedOperation OperationOf(const trace::Record& record) {
  TracedOperation traced;
  traced.identity.step = record.step();
  traced.identity.attempt = record.attempt();
  traced.identity.phase = record.phase();
  traced.micro_batch = record.micro_batch();
  if (record.has_operation()) {
    const trace::Operation& operation = record.operation();
    traced.identity.scope = operation.scope();
    traced.identity.operation = operation.operation();
    traced.identity.first_sample = operation.first_sample();
    for (const trace::Tensor& tensor : operation.inputs()) {
      traced.inputs.push_back(TensorOf(tensor));
    }
    for (const trace::Tensor& tensor : operation.outputs()) {
      traced.outputs.push_back(TensorOf(tensor));
    }
  } else if (record.has_phase_end()) {
    traced.identity.operation = kPhaseOperation;
    traced.outputs.push_back(FieldOf("all", record.phase_end().fingerprint()));
  } else if (record.has_module_end()) {
    traced.identity.scope = record.module_end().scope();
    traced.identity.operation = kModuleOperation;
    traced.outputs.push_back(FieldOf("all", record.module_end().fingerprint()));
  } else {
    traced.identity.operation = kStepOperation;
    for (const auto& [name, value] : record.step_end().fields()) {
      traced.outputs.push_back(FieldOf(name, value));
    }
    std::sort(traced.outputs.begin(), traced.outputs.end(),
              [](const TracedTensor& a, const TracedTensor& b) {
                return a.name < b.name;
              });
  }
  return traced;
}

}  // namespace lockstep
