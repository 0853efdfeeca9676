// Element types of tensors, and the conversions between the float formats.
//
// For everyone who stores or reads a tensor. Not an arithmetic type: BF16 and
// F16 are storage, arithmetic happens in binary32. The conversions are integer
// arithmetic (the one float operation in ToF32(F16) is exact and far from the
// subnormals), so they do not depend on the float environment and flush
// nothing, as clause N2 asks: VCVTNEPS2BF16, which flushes, cannot be used.

#ifndef DETERMINISM_DTYPE_H_
#define DETERMINISM_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "determinism/inline.h"

namespace lockstep {

// The values are part of file formats: never renumber.
enum class DType : uint8_t {
  kF32 = 1,
  kBF16 = 2,
  kF16 = 3,
  kF64 = 4,
  kI64 = 5,
  kI32 = 6,
  kU8 = 7,
  kU16 = 8,
  kU32 = 9,
  kU64 = 10,
};

// Bytes of one element.
size_t SizeOf(DType dtype);

// As safetensors spells it: "F32", "BF16", ...; a static string.
const char* NameOf(DType dtype);

// InputError for any other spelling; case matters.
absl::StatusOr<DType> DTypeFromName(std::string_view name);

// The upper half of a binary32.
struct BF16 {
  uint16_t bits;
};

// IEEE 754 binary16.
struct F16 {
  uint16_t bits;
};

// Round to nearest even; above the largest finite value to infinity; a NaN
// keeps its sign and upper payload and becomes quiet.
LS_MATH_INLINE BF16 ToBF16(float value) {
  const uint32_t bits = BitCast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet = (bits >> 16) | 0x40u;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return BF16{static_cast<uint16_t>(is_nan ? quiet : rounded)};
}

// Exact.
LS_MATH_INLINE float ToF32(BF16 value) {
  return BitCast<float>(static_cast<uint32_t>(value.bits) << 16);
}

// Round to nearest even; from 65520 on to infinity; subnormals are made, not
// flushed; a NaN keeps its sign and upper payload and becomes quiet.
LS_MATH_INLINE F16 ToF16(float value) {
  const uint32_t bits = BitCast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Normal results: rebias the exponent by 127 - 15 and drop 13 bits.
  const uint32_t normal =
      (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal results: the significand in units of 2^-24, shifted at most 31.
  const uint32_t exponent = magnitude >> 23;
  const uint32_t wanted_shift = 126u - exponent;
  const uint32_t shift = exponent < 95u ? 31u : wanted_shift & 31u;
  const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t kept = significand >> shift;
  const uint32_t half = 1u << ((shift - 1u) & 31u);
  const uint32_t rest = significand & ((half << 1) - 1u);
  // Up when rest > half, or equal and kept is odd; in 32 bits, since GCC does
  // not vectorise a loop with bool arithmetic in it.
  const uint32_t up = rest + (kept & 1u) > half ? 1u : 0u;
  const uint32_t subnormal = kept + up;
  const uint32_t quiet = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? quiet : result;
  return F16{static_cast<uint16_t>(sign | result)};
}

// Exact; a NaN becomes quiet.
LS_MATH_INLINE float ToF32(F16 value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  const uint32_t magnitude = value.bits & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + 0x38000000u;
  const uint32_t quiet = (magnitude << 13) | 0x7fc00000u;
  const int32_t count = static_cast<int32_t>(magnitude & 0x3ffu);
  // A subnormal is count * 2^-24, which binary32 holds as a normal number.
  const uint32_t subnormal =
      BitCast<uint32_t>(static_cast<float>(count) * 0x1p-24f);
  uint32_t result = magnitude < 0x400u ? subnormal : normal;
  result = magnitude == 0x7c00u ? 0x7f800000u : result;
  result = magnitude > 0x7c00u ? quiet : result;
  return BitCast<float>(sign | result);
}

LS_MATH_INLINE float ToF32(float value) { return value; }

}  // namespace lockstep

#endif  // DETERMINISM_DTYPE_H_
