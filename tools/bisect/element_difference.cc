#include "tools/bisect/element_difference.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"
#include "determinism/check.h"

namespace lockstep {
namespace {

uint64_t BitsAt(const KeptTensor& tensor, int64_t element) {
  const size_t bytes = SizeOf(tensor.dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + static_cast<size_t>(element) * bytes,
              bytes);
  return bits;
}

bool IsFloat(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 ||
         dtype == DType::kF16 || dtype == DType::kF64;
}

int ExponentBits(DType dtype) {
  return dtype == DType::kF64 ? 11 : dtype == DType::kF16 ? 5 : 8;
}

// A number's place among all of its type, ascending; both zeros have one.
int64_t PlaceOf(uint64_t bits, int width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

bool IsNan(uint64_t bits, DType dtype) {
  const int width = static_cast<int>(SizeOf(dtype)) * 8;
  const int mantissa = width - 1 - ExponentBits(dtype);
  const uint64_t infinity = ((uint64_t{1} << ExponentBits(dtype)) - 1)
                            << mantissa;
  return (bits & ((uint64_t{1} << (width - 1)) - 1)) > infinity;
}

int64_t UlpClass(uint64_t a, uint64_t b, DType dtype) {
  if (IsNan(a, dtype) || IsNan(b, dtype)) return -1;
  const int width = static_cast<int>(SizeOf(dtype)) * 8;
  const int64_t x = PlaceOf(a, width), y = PlaceOf(b, width);
  const uint64_t distance =
      x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
            : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
  if (distance == 0) return 0;  // +0 and -0
  return static_cast<int64_t>(std::bit_floor(distance) > INT64_MAX
                                  ? uint64_t{1} << 62
                                  : std::bit_floor(distance));
}

std::vector<int64_t> CoordinateOf(int64_t element,
                                  const std::vector<int64_t>& shape) {
  std::vector<int64_t> at(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    at[dim] = element % shape[dim];
    element /= shape[dim];
  }
  return at;
}

}  // namespace

void ForEachDifference(const KeptTensor& a, const KeptTensor& b,
                       const std::function<void(int64_t, int64_t)>& visit) {
  LS_CHECK(a.dtype == b.dtype && a.shape == b.shape) << a.name;
  LS_CHECK_EQ(a.bytes.size(), b.bytes.size()) << a.name;
  const auto count = static_cast<int64_t>(a.bytes.size() / SizeOf(a.dtype));
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t x = BitsAt(a, i), y = BitsAt(b, i);
    if (x != y) visit(i, IsFloat(a.dtype) ? UlpClass(x, y, a.dtype) : 0);
  }
}

ElementDifference CompareElements(const KeptTensor& a, const KeptTensor& b) {
  const size_t bytes = SizeOf(a.dtype);
  ElementDifference result = {.tensor = a.name};
  result.count = static_cast<int64_t>(a.bytes.size() / bytes);
  ForEachDifference(a, b, [&](int64_t i, int64_t ulps) {
    if (result.differ++ == 0) {
      const int digits = static_cast<int>(bytes) * 2;
      result.first = CoordinateOf(i, a.shape);
      result.a = absl::StrFormat("%0*x", digits, BitsAt(a, i));
      result.b = absl::StrFormat("%0*x", digits, BitsAt(b, i));
    }
    if (IsFloat(a.dtype)) ++result.ulps[ulps];
  });
  return result;
}

}  // namespace lockstep
