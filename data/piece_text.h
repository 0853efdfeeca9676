// How text is cut for SentencePiece: what it keeps as it is, and lines.
//
// Shared by the trainer and the encoder, so that pieces are learned from what
// is later looked up.

#ifndef DATA_PIECE_TEXT_H_
#define DATA_PIECE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep {

// What SentencePiece writes for a space: U+2581.
inline constexpr std::string_view kPieceSpace = "\xE2\x96\x81";

// Bytes of the character at the start of `text`, 1 to 4; 0 where no well
// formed character begins (overlong, a surrogate, above U+10FFFF, cut short).
inline size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto follows = [&](size_t i) {
    return i < text.size() && (byte(i) & 0xC0) == 0x80;
  };
  if (text.empty()) return 0;
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    return lead == 0xED && byte(1) >= 0xA0 ? 0 : 3;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    return lead == 0xF4 && byte(1) >= 0x90 ? 0 : 4;
  }
  return 0;
}

// How much of the start of `text` SentencePiece keeps as it is: up to a byte
// that is zero or no UTF-8 (RFC 3629), or a U+2581.
inline size_t PlainPrefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && text[at] != '\0') {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0 || text.substr(at, length) == kPieceSpace) break;
    at += length;
  }
  return at;
}

// Where the line at the start of `text` ends: behind its newlines.
inline size_t LineEnd(std::string_view text) {
  const size_t newline = text.find('\n');
  const size_t next =
      newline == text.npos ? newline : text.find_first_not_of('\n', newline);
  return next == text.npos ? text.size() : next;
}

// At most `most` bytes of `text`, not cut inside a character if it is plain.
inline size_t WholeCharacters(std::string_view text, size_t most) {
  if (text.size() <= most) return text.size();
  size_t end = most;
  while (end > most - 3 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return end;
}

}  // namespace lockstep

#endif  // DATA_PIECE_TEXT_H_
