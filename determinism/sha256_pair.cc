#include "determinism/sha256_pair.h"

#include <cpuid.h>

#include <cstring>

#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/sha256_pair_kernel.h"

namespace lockstep {
namespace {

constexpr size_t kBlock = 64;

// FIPS 180-4, section 5.3.3.
constexpr uint32_t kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

bool DetectSha256() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kSha = 1u << 29;
  return (b & kSha) != 0 && __builtin_cpu_supports("sse4.1") &&
         __builtin_cpu_supports("ssse3");
}

void StoreBig(uint64_t value, size_t bytes, uint8_t* to) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
  }
}

// What is left of a message behind its whole blocks, with a one bit, zeros and
// the length behind it (section 5.1.1): one block or two. Returns how many.
size_t Pad(const uint8_t* message, size_t bytes, uint8_t (&tail)[2 * kBlock]) {
  const size_t rest = bytes % kBlock;
  const size_t blocks = rest + 9 <= kBlock ? 1 : 2;
  std::memset(tail, 0, sizeof(tail));
  if (rest > 0) std::memcpy(tail, message + bytes - rest, rest);
  tail[rest] = 0x80;
  StoreBig(uint64_t{bytes} * 8, 8, &tail[blocks * kBlock - 8]);
  return blocks;
}

std::array<Sha256Digest, 2> PairByInstructions(const void* a, const void* b,
                                               size_t bytes) {
  const uint8_t* messages[2] = {static_cast<const uint8_t*>(a),
                                static_cast<const uint8_t*>(b)};
  sha::PairState state;
  for (auto& one : state) std::memcpy(one, kStart, sizeof(kStart));
  sha::CompressPair(messages, bytes / kBlock, state);
  uint8_t tails[2][2 * kBlock];
  size_t blocks = 0;
  for (int n = 0; n < 2; ++n) blocks = Pad(messages[n], bytes, tails[n]);
  sha::CompressPair({tails[0], tails[1]}, blocks, state);
  std::array<Sha256Digest, 2> digests;
  for (size_t n = 0; n < 2; ++n) {
    for (size_t i = 0; i < 8; ++i) {
      StoreBig(state[n][i], 4, &digests[n][4 * i]);
    }
  }
  return digests;
}

Sha256Digest One(const void* message, size_t bytes) {
  Sha256 hash;
  hash.Update(message, bytes);
  return hash.Digest();
}

}  // namespace

bool CpuHasSha256() {
  static const bool has = DetectSha256();
  return has;
}

std::array<Sha256Digest, 2> Sha256Pair(const void* a, const void* b,
                                       size_t bytes, bool instructions) {
  if (!instructions) return {One(a, bytes), One(b, bytes)};
  LS_CHECK(CpuHasSha256());
  return PairByInstructions(a, b, bytes);
}

}  // namespace lockstep
