// The constants of Megatron's indexed token files (FORMAT.md has the grammar).
//
// Only what reader and writer must agree on. All integers are little-endian
// and unaligned (the tables begin at byte 34), hence the load and store below
// instead of casts.

#ifndef DATA_TOKEN_FORMAT_H_
#define DATA_TOKEN_FORMAT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace lockstep {

static_assert(std::endian::native == std::endian::little,
              "token files are read in place as little-endian");

inline constexpr char kIndexMagic[9] = {'M', 'M', 'I', 'D', 'I',
                                        'D', 'X', 0,   0};
inline constexpr uint64_t kIndexVersion = 1;
// magic 9, version 8, type 1, sequences 8, documents + 1 8
inline constexpr uint64_t kIndexHeaderBytes = 34;

// The type byte of the header. determinism/dtype.h has no 8- and 16-bit signed
// integers, and the codes are Megatron's, so the type is its own.
enum class TokenType : uint8_t {
  kU8 = 1,
  kI8 = 2,
  kI16 = 3,
  kI32 = 4,
  kI64 = 5,
  kF64 = 6,  // the format has it; no token file may
  kF32 = 7,  // likewise
  kU16 = 8,
};

// Bytes of one token; 0 for a code that does not exist.
constexpr int64_t WidthOf(TokenType type) {
  switch (type) {
    case TokenType::kU8:
    case TokenType::kI8:
      return 1;
    case TokenType::kI16:
    case TokenType::kU16:
      return 2;
    case TokenType::kI32:
    case TokenType::kF32:
      return 4;
    case TokenType::kI64:
    case TokenType::kF64:
      return 8;
  }
  return 0;
}

// "uint16" and so on, as NumPy says it; "unknown" for no such code.
constexpr const char* NameOf(TokenType type) {
  switch (type) {
    case TokenType::kU8:
      return "uint8";
    case TokenType::kI8:
      return "int8";
    case TokenType::kI16:
      return "int16";
    case TokenType::kI32:
      return "int32";
    case TokenType::kI64:
      return "int64";
    case TokenType::kF64:
      return "float64";
    case TokenType::kF32:
      return "float32";
    case TokenType::kU16:
      return "uint16";
  }
  return "unknown";
}

// What Megatron's DType.optimal_dtype chooses, so that files compare equal.
constexpr TokenType TypeForVocabulary(int64_t vocab_size) {
  return vocab_size < 65500 ? TokenType::kU16 : TokenType::kI32;
}

template <typename T>
T LoadLittle(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void AppendLittle(T value, std::string& out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

}  // namespace lockstep

#endif  // DATA_TOKEN_FORMAT_H_
