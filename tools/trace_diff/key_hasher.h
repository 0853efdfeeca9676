// A hash of what identifies an operation. Inside this folder only.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_KEY_HASHER_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_KEY_HASHER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lockstep {

// 128 bits of whatever is told: enough that no two identities of a trace meet.
class KeyHasher {
 public:
  KeyHasher& Number(uint64_t word) {
    low = Mixed(low ^ word, 0x9e3779b97f4a7c15ull);
    high = Mixed(high ^ word, 0xc2b2ae3d27d4eb4full);
    return *this;
  }
  KeyHasher& Text(std::string_view text) {
    Number(text.size());
    if (text.size() < kWord) {
      uint64_t word = 0;
      for (const char c : text)
        word = word << 8 | static_cast<unsigned char>(c);
      return Number(word);
    }
    // The last word reaches back into the one before it.
    const char* const last = text.data() + text.size() - kWord;
    for (const char* at = text.data(); at < last; at += kWord) Number(Load(at));
    return Number(Load(last));
  }
  uint64_t low = 0x243f6a8885a308d3ull;
  uint64_t high = 0x13198a2e03707344ull;

 private:
  static constexpr size_t kWord = sizeof(uint64_t);
  static uint64_t Load(const char* at) {
    uint64_t word;
    std::memcpy(&word, at, kWord);
    return word;
  }
  static uint64_t Mixed(uint64_t word, uint64_t factor) {
    const uint64_t product = word * factor;
    return std::rotl(product, 29) ^ (product >> 32);
  }
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_KEY_HASHER_H_
