// The tensor kinds of a fault, and those that need more than the tensor: what
// was there before, and what it was made of.
#include <algorithm>
#include <cmath>
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

bool IsMatrix(const TensorRef* tensor) {
  return tensor != nullptr && tensor->shape.size() == 2 &&
         IsFloat(tensor->dtype);
}

// out [R, N] of rows [R, K] and a weight, [N, K] or, backward, [K, N].
struct Product {
  const TensorRef& rows;
  const TensorRef& weight;
  bool backward;
};

std::optional<Product> ProductOf(const OperationEvent& event) {
  const bool backward = event.phase == Phase::kBackward;
  const TensorRef* rows = Named(event.inputs, backward ? "dy" : "x");
  const TensorRef* weight = Named(event.inputs, "weight");
  const TensorRef& out = event.outputs[0];
  if (!IsMatrix(rows) || !IsMatrix(weight) || !IsMatrix(&out)) {
    return std::nullopt;
  }
  const size_t terms = backward ? 0 : 1;  // the weight's dim of them
  if (weight->shape[terms] != rows->shape[1] ||
      weight->shape[1 - terms] != out.shape[1] ||
      rows->shape[0] != out.shape[0] ||
      UnshardedShape(*rows)[1] != rows->shape[1]) {  // ranks have other terms
    return std::nullopt;
  }
  return Product{*rows, *weight, backward};
}

// Element `i` of the product, in fp32.
float FromFarEnd(const Product& product, const Rows& to, int64_t i) {
  const Rows from(product.rows), by(product.weight);
  float sum = 0;
  for (int64_t k = from.length(); k-- > 0;) {
    const int64_t a = i / to.length() * from.length() + k;
    const int64_t column = i % to.length();
    const int64_t b =
        product.backward ? k * by.length() + column : column * by.length() + k;
    sum += ValueAt(product.rows.dtype, from.at(a)) *
           ValueAt(product.weight.dtype, by.at(b));
  }
  return sum;
}

// x of y = norm(x); null: no such operation.
const TensorRef* NormOf(const OperationEvent& event) {
  const TensorRef* x = Named(event.inputs, "x");
  const TensorRef& y = event.outputs[0];
  const bool norm = event.operation == "norm" && event.inputs.size() == 1 &&
                    IsMatrix(x) && IsMatrix(&y) && x->shape == y.shape;
  return norm ? x : nullptr;
}

// Element `i` of a norm as the other sum of its row's squares has it: both
// sums in fp32, of the same terms.
float NormFromFarEnd(const TensorRef& x, const TensorRef& y, const Rows& to,
                     int64_t i) {
  const Rows from(x);
  const int64_t first = i / from.length() * from.length();
  float near = 0, far = 0;
  for (int64_t k = 0; k < from.length(); ++k) {
    const float a = ValueAt(x.dtype, from.at(first + k));
    const float b = ValueAt(x.dtype, from.at(first + from.length() - 1 - k));
    near += a * a;
    far += b * b;
  }
  const float value = ValueAt(y.dtype, to.at(i));
  if (!(far > 0)) return value;
  return static_cast<float>(double{value} *
                            std::sqrt(double{near} / double{far}));
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
  const std::optional<Product> product = ProductOf(event);
  const TensorRef* normed = NormOf(event);
  if (!product && normed == nullptr) {
    return InputError(
        "the operation is no norm, and no product with a weight that this rank "
        "has all terms of",
        "--fault '" + spec.text + "'",
        "choose a projection, forward or backward, or a layer's norm, on one "
        "tensor rank");
  }
  const Rows to(y);
  std::optional<int64_t> only;
  if (spec.element) only = PositionHere(y, *spec.element);
  for (int64_t i = only.value_or(0); i < to.count() * to.length(); ++i) {
    SetValue(y.dtype, to.at(i),
             product ? FromFarEnd(*product, to, i)
                     : NormFromFarEnd(*normed, y, to, i));
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
