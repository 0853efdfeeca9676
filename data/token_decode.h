// Token ids of any stored type as int32 and back, checked against the
// vocabulary.

#ifndef DATA_TOKEN_DECODE_H_
#define DATA_TOKEN_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "data/token_format.h"

namespace lockstep {

// Decodes out.size() tokens of the integer `type` that begin at `from`.
// Returns the position of the first id outside 0 .. vocab_size - 1, whose
// value in `out` is then meaningless, or -1.
int64_t DecodeTokens(TokenType type, const std::byte* from, int64_t vocab_size,
                     std::span<int32_t> out);

// The reverse, for uint16 and int32: writes ids.size() tokens to `to`. An id
// outside the vocabulary is LS_CHECKed.
void EncodeTokens(TokenType type, std::span<const int32_t> ids,
                  int64_t vocab_size, char* to);

// Each byte of `text` as a uint16, to `to`: what EncodeTokens makes of ids that
// are bytes.
void WidenBytes(std::string_view text, char* to);

// One id as it is stored.
int64_t DecodeToken(TokenType type, const std::byte* from);

}  // namespace lockstep

#endif  // DATA_TOKEN_DECODE_H_
