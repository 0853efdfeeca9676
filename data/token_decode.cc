#include "data/token_decode.h"

#include <emmintrin.h>

#include <cstring>

#include "determinism/check.h"

namespace lockstep {
namespace {

// The check is folded into one flag so that the loop vectorises.
template <typename T>
int64_t Decode(const std::byte* from, uint64_t limit, std::span<int32_t> out) {
  bool bad = false;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t id = LoadLittle<T>(from + i * sizeof(T));
    bad |= static_cast<uint64_t>(id) >= limit;
    out[i] = static_cast<int32_t>(id);
  }
  if (!bad) [[likely]] {
    return -1;
  }
  int64_t position = 0;
  while (static_cast<uint64_t>(
             int64_t{LoadLittle<T>(from + position * sizeof(T))}) < limit) {
    ++position;
  }
  return position;
}

template <typename T>
void Encode(std::span<const int32_t> ids, char* to) {
  for (const int32_t id : ids) {
    const T stored = static_cast<T>(id);
    std::memcpy(to, &stored, sizeof(T));
    to += sizeof(T);
  }
}

}  // namespace

int64_t DecodeTokens(TokenType type, const std::byte* from, int64_t vocab_size,
                     std::span<int32_t> out) {
  const uint64_t limit = static_cast<uint64_t>(vocab_size);
  switch (type) {
    case TokenType::kU8:
      return Decode<uint8_t>(from, limit, out);
    case TokenType::kI8:
      return Decode<int8_t>(from, limit, out);
    case TokenType::kI16:
      return Decode<int16_t>(from, limit, out);
    case TokenType::kU16:
      return Decode<uint16_t>(from, limit, out);
    case TokenType::kI32:
      return Decode<int32_t>(from, limit, out);
    case TokenType::kI64:
      return Decode<int64_t>(from, limit, out);
    case TokenType::kF64:
    case TokenType::kF32:
      break;
  }
  LS_CHECK(false) << "floats are refused at Open";
  return -1;
}

void EncodeTokens(TokenType type, std::span<const int32_t> ids,
                  int64_t vocab_size, char* to) {
  const auto limit = static_cast<uint64_t>(vocab_size);
  bool bad = false;
  for (const int32_t id : ids) {
    bad |= static_cast<uint32_t>(id) >= limit;
  }
  LS_CHECK(!bad) << "an id outside the vocabulary of " << vocab_size;
  if (type == TokenType::kU16) {
    Encode<uint16_t>(ids, to);
  } else {
    LS_CHECK(type == TokenType::kI32);
    Encode<int32_t>(ids, to);
  }
}

// SSE2, which every x86-64 has: GCC 12 does not vectorise the plain loop at
// -O2.
void WidenBytes(std::string_view text, char* to) {
  constexpr size_t kStep = sizeof(__m128i);
  const __m128i zero = _mm_setzero_si128();
  size_t i = 0;
  for (; i + kStep <= text.size(); i += kStep) {
    const __m128i bytes =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(&text[i]));
    auto* out = reinterpret_cast<__m128i*>(to + 2 * i);
    _mm_storeu_si128(out, _mm_unpacklo_epi8(bytes, zero));
    _mm_storeu_si128(out + 1, _mm_unpackhi_epi8(bytes, zero));
  }
  for (; i < text.size(); ++i) {
    to[2 * i] = text[i];
    to[2 * i + 1] = 0;
  }
}

int64_t DecodeToken(TokenType type, const std::byte* from) {
  switch (type) {
    case TokenType::kU8:
      return LoadLittle<uint8_t>(from);
    case TokenType::kI8:
      return LoadLittle<int8_t>(from);
    case TokenType::kI16:
      return LoadLittle<int16_t>(from);
    case TokenType::kU16:
      return LoadLittle<uint16_t>(from);
    case TokenType::kI32:
      return LoadLittle<int32_t>(from);
    default:
      return LoadLittle<int64_t>(from);
  }
}

}  // namespace lockstep
