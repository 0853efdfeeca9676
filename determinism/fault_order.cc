// The tensor kinds of a fault, and those that need more than the tensor: what
// was there before, and what it was made of.
#include <algorithm>
#include <cstring>
#include <optional>

#include "determinism/dtype.h"
#include "determinism/fault_rows.h"
#include "determinism/fault_tensor.h"
#include "determinism/status.h"
#include "determinism/tensor_place.h"

namespace lockstep::fault_internal {
namespace {

bool IsFloat(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

float ValueAt(DType dtype, const unsigned char* element) {
  if (dtype == DType::kBF16) return ToF32(Load<BF16>(element));
  if (dtype == DType::kF16) return ToF32(Load<F16>(element));
  return Load<float>(element);
}

void SetValue(DType dtype, unsigned char* element, float value) {
  if (dtype == DType::kBF16) return Store(element, ToBF16(value));
  if (dtype == DType::kF16) return Store(element, ToF16(value));
  Store(element, value);
}

const TensorRef* Named(std::span<const TensorRef> tensors,
                       std::string_view name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const TensorRef& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

bool IsProduct(const TensorRef* x, const TensorRef* weight,
               const TensorRef& y) {
  if (x == nullptr || weight == nullptr) return false;
  if (x->shape.size() != 2 || weight->shape.size() != 2) return false;
  if (y.shape.size() != 2 || !IsFloat(y.dtype)) return false;
  return IsFloat(x->dtype) && IsFloat(weight->dtype) &&
         x->shape[1] == weight->shape[1] && x->shape[0] == y.shape[0] &&
         weight->shape[0] == y.shape[1] &&
         UnshardedShape(*x)[1] == x->shape[1];  // no rank has other terms
}

}  // namespace

std::vector<std::byte> Copy(const TensorRef& tensor) {
  const Rows rows(tensor);
  const auto length = static_cast<size_t>(rows.row_bytes());
  std::vector<std::byte> bytes(static_cast<size_t>(rows.count()) * length);
  for (int64_t i = 0; i < rows.count(); ++i) {
    std::memcpy(bytes.data() + static_cast<size_t>(i) * length, rows.row(i),
                length);
  }
  return bytes;
}

absl::Status Restore(const TensorRef& tensor,
                     const std::vector<std::byte>& bytes) {
  const Rows rows(tensor);
  const auto length = static_cast<size_t>(rows.row_bytes());
  const bool fits = bytes.size() == static_cast<size_t>(rows.count()) * length;
  for (int64_t i = 0; i < rows.count(); ++i) {
    if (fits) {
      std::memcpy(rows.row(i), bytes.data() + static_cast<size_t>(i) * length,
                  length);
    } else {
      std::memset(rows.row(i), 0, length);
    }
  }
  return absl::OkStatus();
}

absl::Status SumFromFarEnd(const OperationEvent& event, const FaultSpec& spec) {
  const TensorRef& y = event.outputs[0];
  const TensorRef* x = Named(event.inputs, "x");
  const TensorRef* weight = Named(event.inputs, "weight");
  if (!IsProduct(x, weight, y)) {
    return InputError(
        "the operation is no product of x and weight that this "
        "rank has all terms of",
        "--fault '" + spec.text + "'",
        "choose a projection's forward, on one tensor rank");
  }
  const Rows to(y), from(*x), by(*weight);
  std::optional<int64_t> only;
  if (spec.element) only = PositionHere(y, *spec.element);
  for (int64_t i = only.value_or(0); i < to.count() * to.length(); ++i) {
    float sum = 0;
    for (int64_t k = from.length(); k-- > 0;) {
      const int64_t a = i / to.length() * from.length() + k;
      const int64_t b = i % to.length() * by.length() + k;
      sum += ValueAt(x->dtype, from.at(a)) * ValueAt(weight->dtype, by.at(b));
    }
    SetValue(y.dtype, to.at(i), sum);
    if (only) break;
  }
  return absl::OkStatus();
}

}  // namespace lockstep::fault_internal

namespace lockstep {

absl::Status FaultPlan::AtTensor(Order& order,
                                 const OperationEvent& event) const {
  if (event.outputs.empty()) {
    return InputError("the operation has no output to damage",
                      "--fault '" + order.spec.text + "'",
                      "choose another operation");
  }
  switch (order.spec.kind) {
    case FaultKind::kStale:
      return fault_internal::Restore(event.outputs[0], order.before);
    case FaultKind::kOrder:
      return fault_internal::SumFromFarEnd(event, order.spec);
    default:
      return fault_internal::Damage(event.outputs[0], order.spec);
  }
}

}  // namespace lockstep
