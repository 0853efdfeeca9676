#include "tools/repetition.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace lockstep {
namespace {

// Sorts the windows, so that equal ones stand together: no hash, one answer.
NgramCounts CountNgrams(std::span<const int32_t> tokens, int64_t n) {
  NgramCounts counts = {.n = n};
  counts.windows = std::max<int64_t>(std::ssize(tokens) - n + 1, 0);
  const auto at = [&](int64_t first) {
    return tokens.subspan(static_cast<size_t>(first), static_cast<size_t>(n));
  };
  std::vector<int64_t> order(static_cast<size_t>(counts.windows));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::ranges::lexicographical_compare(at(a), at(b));
  });
  for (size_t from = 0, to = 0; from < order.size(); from = to) {
    while (to < order.size() &&
           std::ranges::equal(at(order[from]), at(order[to])))
      ++to;
    ++counts.distinct;
    const auto count = static_cast<int64_t>(to - from);
    if (count <= counts.top_count) continue;
    counts.top_count = count;
    const auto top = at(order[from]);
    counts.top.assign(top.begin(), top.end());
  }
  return counts;
}

bool IsControl(unsigned char c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\f' && c != '\r') ||
         c == 0x7f;
}

bool IsContinuation(char c) { return (c & 0xC0) == 0x80; }

// Bytes that the first byte of a character asks for; 0 for no first byte.
size_t LengthFromFirst(unsigned char c) {
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c < 0xE0) return 2;
  if (c >= 0xE0 && c < 0xF0) return 3;
  return c >= 0xF0 && c < 0xF5 ? 4 : 0;
}

// Overlong forms, surrogates and what is beyond U+10FFFF (RFC 3629).
bool SecondByteFits(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second < 0xA0;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second < 0x90;
    default:
      return true;
  }
}

// One character of UTF-8, or one byte that is none.
struct Character {
  size_t bytes = 1;
  bool valid = false;
  bool cut = false;  // a good beginning that the text's end cuts off
};

Character CharacterAt(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t length = LengthFromFirst(first);
  if (length <= 1) return {1, length == 1, false};
  for (size_t i = 1; i < length; ++i) {
    if (at + i == text.size()) return {i, false, true};
    if (!IsContinuation(text[at + i])) return {};
    if (i == 1 &&
        !SecondByteFits(first, static_cast<unsigned char>(text[at + 1]))) {
      return {};
    }
  }
  return {length, true, false};
}

}  // namespace

Repetition MeasureRepetition(std::span<const int32_t> tokens) {
  Repetition measures = {.tokens = std::ssize(tokens)};
  for (size_t from = 0, to = 0; from < tokens.size(); from = to) {
    while (to < tokens.size() && tokens[to] == tokens[from]) ++to;
    const auto run = static_cast<int64_t>(to - from);
    if (run <= measures.longest_run) continue;
    measures.longest_run = run;
    measures.run_first = static_cast<int64_t>(from);
    measures.run_token = tokens[from];
  }
  for (int64_t n = 1; n <= kLongestNgram; ++n) {
    measures.ngrams[static_cast<size_t>(n - 1)] = CountNgrams(tokens, n);
  }
  return measures;
}

double NonTextShare(std::string_view text) {
  if (text.empty()) return 0;
  int64_t bad = 0;
  size_t at = 0;
  // The rest of a character that began before the text did.
  while (at < std::min<size_t>(text.size(), 3) && IsContinuation(text[at])) {
    ++at;
  }
  if (at == text.size()) at = 0;
  while (at < text.size()) {
    const Character character = CharacterAt(text, at);
    const bool control =
        character.valid && IsControl(static_cast<unsigned char>(text[at]));
    if (control || (!character.valid && !character.cut)) ++bad;
    at += character.bytes;
  }
  return static_cast<double>(bad) / static_cast<double>(text.size());
}

std::string VisibleText(std::string_view text, int64_t most) {
  std::string visible;
  int64_t characters = 0;
  for (size_t at = 0; at < text.size(); ++characters) {
    if (most > 0 && characters == most) return visible + "...";
    const Character character = CharacterAt(text, at);
    const auto first = static_cast<unsigned char>(text[at]);
    // U+0080 to U+009F are control characters too.
    const bool c1 = first == 0xC2 && character.valid &&
                    static_cast<unsigned char>(text[at + 1]) < 0xA0;
    if (first == '\n') {
      visible += "\\n";
    } else if (first == '\\') {
      visible += "\\\\";
    } else if (character.valid && !c1 && first >= 0x20 && first != 0x7f) {
      visible += text.substr(at, character.bytes);
    } else {
      for (size_t i = 0; i < character.bytes; ++i) {
        visible += absl::StrFormat("\\x%02X",
                                   static_cast<unsigned char>(text[at + i]));
      }
    }
    at += character.bytes;
  }
  return visible;
}

}  // namespace lockstep
