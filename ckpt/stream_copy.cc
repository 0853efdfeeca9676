#include "ckpt/stream_copy.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace lockstep {

void StreamCopy(void* to, const void* from, size_t bytes) {
  constexpr size_t kLine = 64;
  auto* out = static_cast<char*>(to);
  auto* in = static_cast<const char*>(from);
  const size_t past = reinterpret_cast<uintptr_t>(out) % kLine;
  const size_t head = std::min(past == 0 ? 0 : kLine - past, bytes);
  std::memcpy(out, in, head);
  size_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    for (size_t k = 0; k < kLine; k += sizeof(__m128i)) {
      _mm_stream_si128(
          reinterpret_cast<__m128i*>(out + at + k),
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at + k)));
    }
  }
  std::memcpy(out + at, in + at, bytes - at);
  _mm_sfence();  // these stores are in no order with a lock's
}

}  // namespace lockstep
