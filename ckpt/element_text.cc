#include "ckpt/element_text.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_format.h"

namespace lockstep {
namespace {

template <typename T>
T Load(const char* element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

template <typename T>
std::string WholeText(const char* element) {
  return std::to_string(Load<T>(element));
}

// Bits in the order of the numbers that they are: both zeros are 0.
template <typename Word>
int64_t Ordered(Word bits) {
  constexpr Word kSign = static_cast<Word>(Word{1} << (sizeof(Word) * 8 - 1));
  const auto magnitude = static_cast<int64_t>(bits & ~kSign);
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

template <typename Word>
uint64_t FloatDistance(const char* a, const char* b) {
  const auto x = static_cast<uint64_t>(Ordered(Load<Word>(a)));
  const auto y = static_cast<uint64_t>(Ordered(Load<Word>(b)));
  return static_cast<int64_t>(x) < static_cast<int64_t>(y) ? y - x : x - y;
}

template <typename T>
uint64_t WholeDistance(const char* a, const char* b) {
  const T x = Load<T>(a), y = Load<T>(b);
  return x < y ? static_cast<uint64_t>(y) - static_cast<uint64_t>(x)
               : static_cast<uint64_t>(x) - static_cast<uint64_t>(y);
}

}  // namespace

std::string ElementText(DType dtype, const char* element) {
  switch (dtype) {
    case DType::kF32: {
      const auto value = Load<float>(element);
      return absl::StrFormat("%.9g (%08x)", value,
                             std::bit_cast<uint32_t>(value));
    }
    case DType::kF64: {
      const auto value = Load<double>(element);
      return absl::StrFormat("%.17g (%016x)", value,
                             std::bit_cast<uint64_t>(value));
    }
    case DType::kBF16: {
      const auto value = Load<BF16>(element);
      return absl::StrFormat("%.9g (%04x)", ToF32(value), value.bits);
    }
    case DType::kF16: {
      const auto value = Load<F16>(element);
      return absl::StrFormat("%.9g (%04x)", ToF32(value), value.bits);
    }
    case DType::kI64:
      return WholeText<int64_t>(element);
    case DType::kI32:
      return WholeText<int32_t>(element);
    case DType::kU8:
      return WholeText<uint8_t>(element);
    case DType::kU16:
      return WholeText<uint16_t>(element);
    case DType::kU32:
      return WholeText<uint32_t>(element);
    case DType::kU64:
      return WholeText<uint64_t>(element);
  }
  return "";
}

uint64_t ElementDistance(DType dtype, const char* a, const char* b) {
  switch (dtype) {
    case DType::kF32:
      return FloatDistance<uint32_t>(a, b);
    case DType::kF64:
      return FloatDistance<uint64_t>(a, b);
    case DType::kBF16:
    case DType::kF16:
      return FloatDistance<uint16_t>(a, b);
    case DType::kI64:
      return WholeDistance<int64_t>(a, b);
    case DType::kI32:
      return WholeDistance<int32_t>(a, b);
    case DType::kU8:
      return WholeDistance<uint8_t>(a, b);
    case DType::kU16:
      return WholeDistance<uint16_t>(a, b);
    case DType::kU32:
      return WholeDistance<uint32_t>(a, b);
    case DType::kU64:
      return WholeDistance<uint64_t>(a, b);
  }
  return 0;
}

}  // namespace lockstep
