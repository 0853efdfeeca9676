// N11: fingerprints see what they must see, and plainer keys would not.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include "determinism/fingerprint.h"
#include "determinism/philox.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

using Bytes = std::vector<unsigned char>;

uint64_t Draw(uint64_t item, uint64_t i, uint64_t below) {
  return RandomU32(4, {Stream::kTest, 2, item, i}) % below;
}

Bytes RandomBytes(uint64_t item, size_t n) {
  Bytes bytes(n);
  for (size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<unsigned char>(Draw(item, i, 256));
  }
  return bytes;
}

TEST(FingerprintTest, N11SeesEveryFlipAndSignPair) {
  Bytes bytes = RandomBytes(3, 4096);
  const Fingerprint before = FingerprintBytes(bytes.data(), bytes.size());
  int64_t missed = 0;
  for (uint64_t trial = 0; trial < 10000; ++trial) {
    const uint64_t bit = Draw(4, trial, 8 * bytes.size());
    bytes[bit / 8] ^= 1u << (bit % 8);
    missed += FingerprintBytes(bytes.data(), bytes.size()) == before;
    bytes[bit / 8] ^= 1u << (bit % 8);
    // The signs of two binary32, then of four at equal distance.
    const uint64_t first = Draw(5, trial, 256);
    const uint64_t stride = 1 + Draw(6, trial, 255);
    for (const uint64_t signs : {2, 4}) {
      for (uint64_t i = 0; i < signs; ++i) {
        bytes[4 * (first + i * stride) + 3] ^= 0x80;
      }
      missed += FingerprintBytes(bytes.data(), bytes.size()) == before;
      for (uint64_t i = 0; i < signs; ++i) {
        bytes[4 * (first + i * stride) + 3] ^= 0x80;
      }
    }
  }
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(FingerprintBytes(bytes.data(), bytes.size()), before);
}

// A one-hot matrix with two of its rows swapped.
struct Swap {
  std::vector<uint32_t> before, after;
};

Swap SwappedOneHotRows(uint64_t trial) {
  constexpr uint64_t kRows = 32, kCols = 24;
  const uint32_t one = std::bit_cast<uint32_t>(1.0f);
  Swap swap;
  swap.before.assign(kRows * kCols, 0);
  std::vector<uint64_t> hot(kRows);
  for (uint64_t row = 0; row < kRows; ++row) {
    hot[row] = Draw(trial, row, kCols);
    swap.before[row * kCols + hot[row]] = one;
  }
  const uint64_t a = Draw(trial, 100, kRows);
  uint64_t b = Draw(trial, 101, kRows);
  while (hot[b] == hot[a]) b = (b + 1) % kRows;
  swap.after = swap.before;
  std::swap_ranges(swap.after.begin() + a * kCols,
                   swap.after.begin() + (a + 1) * kCols,
                   swap.after.begin() + b * kCols);
  return swap;
}

TEST(FingerprintTest, N11SeesSwappedOneHotRows) {
  int64_t missed = 0;
  int64_t missed_by_affine_keys = 0;
  const auto affine = [](const std::vector<uint32_t>& words) {
    uint64_t sum = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      const auto key = static_cast<uint32_t>(0x9e3779b1u * i + 0x6a09e667u) | 1;
      sum += uint64_t{words[i]} * key;
    }
    return sum;
  };
  for (uint64_t trial = 0; trial < 10000; ++trial) {
    const Swap swap = SwappedOneHotRows(10000 + trial);
    const size_t bytes = 4 * swap.before.size();
    missed += FingerprintBytes(swap.before.data(), bytes) ==
              FingerprintBytes(swap.after.data(), bytes);
    missed_by_affine_keys += affine(swap.before) == affine(swap.after);
  }
  EXPECT_EQ(missed, 0);
  // The canary: swaps that keys without mixing do miss were among these.
  EXPECT_GT(missed_by_affine_keys, 500);
}

// Both lanes at once, which is what a shared weakness would look like.
TEST(FingerprintTest, N11LanesAreIndependent) {
  std::set<uint64_t> ratios;
  for (uint64_t i = 0; i < 1000; ++i) {
    Bytes one(4, 0);
    one[0] = 1;
    const Fingerprint key = FingerprintBytes(one.data(), 4, 4 * i);
    EXPECT_EQ(key.lane[0] & 1, 1u);
    EXPECT_NE(key.lane[0], key.lane[1]);
    ratios.insert(key.lane[0] - key.lane[1]);
  }
  EXPECT_EQ(ratios.size(), 1000u);
}

}  // namespace
}  // namespace lockstep
