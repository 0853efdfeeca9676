#include "determinism/fault_tensor.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "determinism/check.h"
#include "determinism/fault_rows.h"
#include "determinism/fresh_memory.h"
#include "determinism/status.h"
#include "determinism/tensor_place.h"

namespace lockstep::fault_internal {
namespace {

// A row that is swapped is swapped wherever a part of it is.
std::optional<int64_t> PositionOf(const TensorRef& tensor,
                                  const FaultSpec& spec) {
  return PositionHere(tensor, *spec.element, spec.kind == FaultKind::kSwapRows);
}

bool IsBeyond(const TensorRef& tensor, const FaultSpec& spec) {
  return *spec.element >= CountOf(UnshardedShape(tensor));
}

absl::Status Impossible(const TensorRef& tensor, const FaultSpec& spec,
                        const std::string& what, const std::string& todo) {
  return InputError(what,
                    "--fault '" + spec.text + "', tensor " +
                        std::string(tensor.name) + " of type " +
                        NameOf(tensor.dtype),
                    todo);
}

absl::Status Flip(const TensorRef& tensor, const FaultSpec& spec,
                  unsigned char* element) {
  const int bits = static_cast<int>(SizeOf(tensor.dtype)) * 8;
  if (*spec.bit >= bits) {
    return Impossible(tensor, spec, "the type has no such bit",
                      "give a bit below " + std::to_string(bits));
  }
  element[*spec.bit / 8] ^= static_cast<unsigned char>(1u << (*spec.bit % 8));
  return absl::OkStatus();
}

absl::Status MakeNan(const TensorRef& tensor, const FaultSpec& spec,
                     unsigned char* element) {
  switch (tensor.dtype) {
    case DType::kF32:
      Store<uint32_t>(element, 0x7fc00000u);
      return absl::OkStatus();
    case DType::kBF16:
      Store<uint16_t>(element, 0x7fc0u);
      return absl::OkStatus();
    case DType::kF16:
      Store<uint16_t>(element, 0x7e00u);
      return absl::OkStatus();
    case DType::kF64:
      Store<uint64_t>(element, 0x7ff8000000000000u);
      return absl::OkStatus();
    default:
      return Impossible(tensor, spec, "the type has no NaN",
                        "choose a tensor of a float type");
  }
}

absl::Status Spike(const TensorRef& tensor, const FaultSpec& spec,
                   unsigned char* element) {
  const double times =
      spec.factor.value_or(spec.kind == FaultKind::kScale ? 2 : 1024);
  const auto factor = static_cast<float>(times);
  switch (tensor.dtype) {
    case DType::kF32:
      Store(element, Load<float>(element) * factor);
      return absl::OkStatus();
    case DType::kBF16:
      Store(element, ToBF16(ToF32(Load<BF16>(element)) * factor));
      return absl::OkStatus();
    case DType::kF16:
      Store(element, ToF16(ToF32(Load<F16>(element)) * factor));
      return absl::OkStatus();
    case DType::kF64:
      Store(element, Load<double>(element) * times);
      return absl::OkStatus();
    default:
      return Impossible(tensor, spec, "only float types are multiplied",
                        "choose a tensor of a float type");
  }
}

absl::Status SwapRows(const TensorRef& tensor, const FaultSpec& spec,
                      int64_t position) {
  const Rows rows(tensor);
  if (rows.count() < 2) {
    return Impossible(tensor, spec, "a single row cannot be swapped",
                      "choose a tensor of two rows or more");
  }
  const int64_t row = position / rows.length();
  std::swap_ranges(rows.row(row), rows.row(row) + rows.row_bytes(),
                   rows.row((row + 1) % rows.count()));
  return absl::OkStatus();
}

absl::Status DamageElement(const TensorRef& tensor, const FaultSpec& spec,
                           unsigned char* element) {
  switch (spec.kind) {
    case FaultKind::kFlip:
      return Flip(tensor, spec, element);
    case FaultKind::kNan:
      return MakeNan(tensor, spec, element);
    case FaultKind::kSpike:
    case FaultKind::kScale:
      return Spike(tensor, spec, element);
    case FaultKind::kUnwritten:
      std::memset(element, IsFreshMemoryPoisoned() ? kPoisonByte : 0,
                  SizeOf(tensor.dtype));
      return absl::OkStatus();
    default:
      LS_CHECK(false) << NameOf(spec.kind) << " is no tensor fault";
      return absl::OkStatus();
  }
}

}  // namespace

bool HoldsElement(const TensorRef& tensor, const FaultSpec& spec) {
  if (!spec.element.has_value() || IsBeyond(tensor, spec)) return true;
  return PositionOf(tensor, spec).has_value();
}

absl::Status Damage(const TensorRef& tensor, const FaultSpec& spec) {
  const Rows rows(tensor);
  if (!spec.element.has_value()) {  // of everything
    const int64_t count = rows.count() * rows.length();
    for (int64_t i = 0; i < count; ++i) {
      LS_RETURN_IF_ERROR(DamageElement(tensor, spec, rows.at(i)));
    }
    return absl::OkStatus();
  }
  if (IsBeyond(tensor, spec)) {
    return Impossible(tensor, spec, "the tensor has no such element",
                      "give an element below " +
                          std::to_string(CountOf(UnshardedShape(tensor))));
  }
  const int64_t position = *PositionOf(tensor, spec);
  if (spec.kind == FaultKind::kSwapRows) {
    return SwapRows(tensor, spec, position);
  }
  return DamageElement(tensor, spec, rows.at(position));
}

}  // namespace lockstep::fault_internal
