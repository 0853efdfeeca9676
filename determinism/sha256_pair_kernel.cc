// FIPS 180-4, section 6.2.2, four rounds at a time, with the instructions of
// Intel's "SHA extensions" (Software Developer's Manual, volume 2: SHA256RNDS2,
// SHA256MSG1, SHA256MSG2), which keep a state as the halves ABEF and CDGH.
// Every step is written for both messages before the next one is.

#include "determinism/sha256_pair_kernel.h"

#include <immintrin.h>

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

// FIPS 180-4, section 4.2.2.
alignas(16) constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct Half {
  __m128i abef, cdgh;
};

Half Load(const uint32_t (&s)[8]) {
  return {_mm_setr_epi32(static_cast<int>(s[5]), static_cast<int>(s[4]),
                         static_cast<int>(s[1]), static_cast<int>(s[0])),
          _mm_setr_epi32(static_cast<int>(s[7]), static_cast<int>(s[6]),
                         static_cast<int>(s[3]), static_cast<int>(s[2]))};
}

void Store(const Half& half, uint32_t (&s)[8]) {
  alignas(16) uint32_t words[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(&words[0]), half.abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(&words[4]), half.cdgh);
  constexpr int kPlace[8] = {5, 4, 1, 0, 7, 6, 3, 2};
  for (int i = 0; i < 8; ++i) s[kPlace[i]] = words[i];
}

// Words 4i .. 4i + 3 of a block, which are big-endian.
__m128i Words(const uint8_t* block, int i) {
  const __m128i big =
      _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
  const auto* from = reinterpret_cast<const __m128i*>(block + 16 * i);
  return _mm_shuffle_epi8(_mm_loadu_si128(from), big);
}

// The next four words of the schedule, in place of the oldest.
void Schedule(__m128i (&w)[4], int i) {
  const __m128i last = w[(i + 3) & 3];
  const __m128i middle = _mm_alignr_epi8(last, w[(i + 2) & 3], 4);
  const __m128i sum =
      _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]), middle);
  w[i & 3] = _mm_sha256msg2_epu32(sum, last);
}

void Block(const uint8_t* const (&block)[2], Half (&state)[2]) {
  Half s[2] = {state[0], state[1]};
  __m128i w[2][4], sum[2];
  for (int i = 0; i < 4; ++i) {
    for (int n = 0; n < 2; ++n) w[n][i] = Words(block[n], i);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const auto* constants = reinterpret_cast<const __m128i*>(&kRound[4 * i]);
    for (int n = 0; n < 2; ++n) {
      sum[n] = _mm_add_epi32(w[n][i & 3], _mm_load_si128(constants));
    }
    for (int n = 0; n < 2; ++n) {
      s[n].cdgh = _mm_sha256rnds2_epu32(s[n].cdgh, s[n].abef, sum[n]);
    }
    for (int n = 0; n < 2 && i < 12; ++n) Schedule(w[n], i);
    for (int n = 0; n < 2; ++n) {
      s[n].abef = _mm_sha256rnds2_epu32(s[n].abef, s[n].cdgh,
                                        _mm_shuffle_epi32(sum[n], 0x0E));
    }
  }
  for (int n = 0; n < 2; ++n) {
    state[n].abef = _mm_add_epi32(state[n].abef, s[n].abef);
    state[n].cdgh = _mm_add_epi32(state[n].cdgh, s[n].cdgh);
  }
}

}  // namespace

void CompressPair(const uint8_t* const (&messages)[2], size_t blocks,
                  PairState& state) {
  Half halves[2] = {Load(state[0]), Load(state[1])};
  for (size_t b = 0; b < blocks; ++b) {
    Block({messages[0] + 64 * b, messages[1] + 64 * b}, halves);
  }
  for (int n = 0; n < 2; ++n) Store(halves[n], state[n]);
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
