#include "determinism/sha256_pair.h"

#include <cpuid.h>

#include <cstring>

#include "determinism/check.h"
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
size_t Pad(const uint8_t* rest_of_it, uint64_t bytes,
           uint8_t (&tail)[2 * kBlock]) {
  const size_t rest = bytes % kBlock;
  const size_t blocks = rest + 9 <= kBlock ? 1 : 2;
  std::memset(tail, 0, sizeof(tail));
  if (rest > 0) std::memcpy(tail, rest_of_it, rest);
  tail[rest] = 0x80;
  StoreBig(uint64_t{bytes} * 8, 8, &tail[blocks * kBlock - 8]);
  return blocks;
}

}  // namespace

std::string HexOf(const Sha256Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

bool CpuHasSha256() {
  static const bool has = DetectSha256();
  return has;
}

std::array<Sha256Digest, 2> Sha256Pair(const void* a, const void* b,
                                       size_t bytes, bool instructions) {
  Sha256PairStream stream(instructions);
  stream.Update(a, b, bytes);
  return {stream.Digest(0), stream.Digest(1)};
}

Sha256PairStream::Sha256PairStream(bool instructions)
    : instructions_(instructions) {
  LS_CHECK(!instructions || CpuHasSha256());
  for (auto& one : state_) std::memcpy(one, kStart, sizeof(kStart));
}

void Sha256PairStream::KeepRest(size_t message, const void* data,
                                size_t bytes) {
  LS_CHECK_EQ(lengths_[message] % kBlock, 0u);
  lengths_[message] += bytes;
  const size_t rest = bytes % kBlock;
  if (rest == 0) return;
  std::memcpy(rest_[message].data(),
              static_cast<const uint8_t*>(data) + bytes - rest, rest);
}

void Sha256PairStream::Update(const void* a, const void* b, size_t bytes) {
  KeepRest(0, a, bytes);
  KeepRest(1, b, bytes);
  if (!instructions_) {
    streams_[0].Update(a, bytes);
    streams_[1].Update(b, bytes);
    return;
  }
  sha::CompressPair(
      {static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b)},
      bytes / kBlock, state_);
}

// The gaps between its rounds are filled with its own.
void Sha256PairStream::UpdateOne(size_t message, const void* data,
                                 size_t bytes) {
  KeepRest(message, data, bytes);
  if (!instructions_) {
    streams_[message].Update(data, bytes);
    return;
  }
  sha::PairState twice;
  for (auto& one : twice) std::memcpy(one, state_[message], sizeof(one));
  const auto* const blocks = static_cast<const uint8_t*>(data);
  sha::CompressPair({blocks, blocks}, bytes / kBlock, twice);
  std::memcpy(state_[message], twice[0], sizeof(twice[0]));
}

Sha256Digest Sha256PairStream::Digest(size_t message) const {
  if (!instructions_) return streams_[message].Digest();
  uint8_t tail[2 * kBlock];
  const size_t blocks = Pad(rest_[message].data(), lengths_[message], tail);
  sha::PairState twice;
  for (auto& one : twice) std::memcpy(one, state_[message], sizeof(one));
  sha::CompressPair({tail, tail}, blocks, twice);
  Sha256Digest digest;
  for (size_t i = 0; i < 8; ++i) StoreBig(twice[0][i], 4, &digest[4 * i]);
  return digest;
}

}  // namespace lockstep
