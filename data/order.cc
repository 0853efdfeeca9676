#include "data/order.h"

#include <bit>

#include "determinism/check.h"
#include "determinism/philox.h"

namespace lockstep {
namespace {

struct EpochKey {
  uint64_t seed = 0;
  uint16_t source = 0;
  uint64_t epoch = 0;
};

// A bijection of 0 .. 2^(2 * half_bits) - 1.
uint64_t Feistel(const EpochKey& key, int half_bits, uint64_t value) {
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  uint64_t left = value >> half_bits;
  uint64_t right = value & mask;
  for (uint64_t round = 0; round < kOrderRounds; ++round) {
    const uint64_t word = RandomU32(
        key.seed,
        {Stream::kOrder, key.source, key.epoch, 4 * (round << 32 | right)});
    const uint64_t next = left ^ (word & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

}  // namespace

uint64_t SampleAt(uint64_t seed, uint64_t source, uint64_t sample_count,
                  uint64_t global_index) {
  LS_CHECK(sample_count > 0 && sample_count <= uint64_t{1} << 62)
      << sample_count;
  LS_CHECK_LT(source, uint64_t{1} << 16);
  const EpochKey key = {seed, static_cast<uint16_t>(source),
                        global_index / sample_count};
  LS_CHECK_LT(key.epoch, uint64_t{1} << 56);
  const uint64_t position = global_index % sample_count;
  const int bits = std::bit_width(sample_count - 1);
  const int half_bits = (bits + 1) / 2;
  if (half_bits == 0) {
    return 0;
  }
  uint64_t sample = Feistel(key, half_bits, position);
  while (sample >= sample_count) {
    sample = Feistel(key, half_bits, sample);
  }
  return sample;
}

}  // namespace lockstep
