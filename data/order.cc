#include "data/order.h"

#include <algorithm>
#include <array>
#include <bit>

#include "determinism/check.h"
#include "determinism/philox.h"

namespace lockstep {
namespace {

// Rounds over parts of one or two bits reach too few of the permutations to
// pass for a draw; a few samples therefore walk through 64 places.
constexpr int kMinBits = 6;

// Philox's counter and key at (kOrder, source, epoch), element 0. A round's
// element is 4 * (round * 2^32 + part), so its quad is part below round: two
// words of the counter that are zero here up to 2^16 rounds (the upper half of
// the second one belongs to the epoch). Built once a sample, not once a round.
struct EpochKey {
  std::array<uint32_t, 4> counter;
  std::array<uint32_t, 2> key;
};

EpochKey KeyOf(uint64_t seed, uint64_t source, uint64_t epoch) {
  return {CounterOf({Stream::kOrder, static_cast<uint16_t>(source), epoch, 0}),
          {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}};
}

uint64_t RoundWord(const EpochKey& key, uint32_t round, uint64_t part) {
  const auto& c = key.counter;
  return Philox4x32({static_cast<uint32_t>(part), c[1] | round, c[2], c[3]},
                    key.key)[0];
}

// A bijection of 0 .. 2^bits - 1: each round can be undone.
uint64_t Feistel(const EpochKey& key, int bits, uint64_t value) {
  const int right_bits = bits / 2;
  const uint64_t right_mask = (uint64_t{1} << right_bits) - 1;
  const uint64_t left_mask = (uint64_t{1} << (bits - right_bits)) - 1;
  uint64_t left = value >> right_bits;
  uint64_t right = value & right_mask;
  for (uint32_t round = 0; round < kOrderRounds; round += 2) {
    left ^= RoundWord(key, round, right) & left_mask;
    right ^= RoundWord(key, round + 1, left) & right_mask;
  }
  return left << right_bits | right;
}

}  // namespace

uint64_t SampleAt(uint64_t seed, uint64_t source, uint64_t sample_count,
                  uint64_t global_index) {
  LS_CHECK(sample_count > 0 && sample_count <= uint64_t{1} << 62)
      << sample_count;
  LS_CHECK_LT(source, uint64_t{1} << 16);
  const uint64_t epoch = global_index / sample_count;
  LS_CHECK_LT(epoch, uint64_t{1} << 56);
  const EpochKey key = KeyOf(seed, source, epoch);
  const uint64_t position = global_index % sample_count;
  const int bits = std::max<int>(kMinBits, std::bit_width(sample_count - 1));
  uint64_t sample = Feistel(key, bits, position);
  while (sample >= sample_count) {
    sample = Feistel(key, bits, sample);
  }
  return sample;
}

}  // namespace lockstep
