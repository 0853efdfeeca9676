// N11: fingerprints add up over any shards and see what they must see.

#include "determinism/fingerprint.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <vector>

#include "determinism/cpu_level.h"
#include "determinism/fingerprint_kernel.h"
#include "determinism/philox.h"
#include "determinism/sha256.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

using Bytes = std::vector<unsigned char>;
using Shape = std::vector<int64_t>;

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

// murmur3's finaliser again, from its publication, for the formula below.
uint32_t Mix(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  h ^= h >> 16;
  return h;
}

// The contract's formula, byte by byte.
Fingerprint ByTheBook(const Bytes& bytes, uint64_t byte_offset) {
  Fingerprint sum;
  const uint32_t constant[2] = {0x6a09e667, 0xf3bcc909};
  for (size_t j = 0; j < bytes.size(); ++j) {
    const uint64_t at = byte_offset + j;
    const uint64_t i = at / 4;
    for (int lane = 0; lane < 2; ++lane) {
      const uint32_t key = Mix(static_cast<uint32_t>(i) + constant[lane] +
                               Mix(static_cast<uint32_t>(i >> 32))) |
                           1u;
      sum.lane[lane] += (uint64_t{bytes[j]} << (8 * (at % 4))) * key;
    }
  }
  return sum;
}

TEST(FingerprintTest, N11TheWrittenFormulaAtAnyOffset) {
  const uint64_t wrap = uint64_t{1} << 34;  // where hi32(i) changes
  for (const uint64_t base : {uint64_t{0}, uint64_t{1} << 20, wrap - 64,
                              5 * wrap - 32, uint64_t{1} << 45}) {
    for (uint64_t shift = 0; shift < 8; ++shift) {
      for (const size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 64, 1001}) {
        const Bytes bytes = RandomBytes(n, n);
        EXPECT_EQ(FingerprintBytes(bytes.data(), n, base + shift),
                  ByTheBook(bytes, base + shift))
            << base << " + " << shift << ", " << n;
      }
    }
  }
}

TEST(FingerprintTest, N11LevelsAgree) {
  using fingerprint_internal::AddWords;
  std::vector<AddWords> fast;
  if (CpuHasAvx2()) fast.push_back(avx2::FingerprintWords);
  if (CpuHasAvx512()) fast.push_back(avx512::FingerprintWords);
  const Bytes bytes = RandomBytes(1, 70000);
  for (int64_t count = 0; count < 17000; count += count < 100 ? 1 : 977) {
    for (const uint32_t first : {0u, 12345u, 0xffff0000u}) {
      uint64_t want[2] = {1, 2};
      scalar::FingerprintWords(bytes.data() + 3, count, first, 99, want);
      for (const AddWords add_words : fast) {
        uint64_t got[2] = {1, 2};
        add_words(bytes.data() + 3, count, first, 99, got);
        ASSERT_EQ(got[0], want[0]) << count;
        ASSERT_EQ(got[1], want[1]) << count;
      }
    }
  }
}

// Copies a box out of a row-major tensor, element by element.
Bytes CutBox(const Bytes& whole, size_t item, const Shape& shape,
             const Shape& start, const Shape& box) {
  Bytes out;
  Shape at(shape.size(), 0);
  int64_t count = 1;
  for (const int64_t extent : box) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0;) {
      at[d] = rest % box[d];
      rest /= box[d];
    }
    int64_t element = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      element = element * shape[d] + start[d] + at[d];
    }
    out.insert(out.end(), whole.begin() + element * item,
               whole.begin() + (element + 1) * item);
  }
  return out;
}

TEST(FingerprintTest, N11AddsUpOverRandomShardsAlongEveryDim) {
  const Shape shapes[] = {{}, {17}, {5, 7}, {3, 4, 5}, {6, 1, 9}, {2, 3, 5, 7}};
  const DType dtypes[] = {DType::kU8, DType::kBF16, DType::kF32, DType::kF64};
  int64_t boxes = 0;
  for (uint64_t trial = 0; trial < 60; ++trial) {
    for (const Shape& shape : shapes) {
      const DType dtype = dtypes[trial % 4];
      int64_t count = 1;
      for (const int64_t extent : shape) count *= extent;
      const Bytes whole = RandomBytes(trial, count * SizeOf(dtype));
      // A random cut of every dim in up to three; every combination is a box.
      std::vector<std::vector<int64_t>> cuts;
      for (size_t d = 0; d < shape.size(); ++d) {
        std::vector<int64_t> cut = {0, shape[d]};
        for (int i = 0; i < 2; ++i) {
          cut.push_back(Draw(trial + 1000, 4 * d + i, shape[d] + 1));
        }
        std::sort(cut.begin(), cut.end());
        cuts.push_back(cut);
      }
      Fingerprint sum;
      Shape start(shape.size()), box(shape.size());
      const std::function<void(size_t)> visit = [&](size_t d) {
        if (d == shape.size()) {
          const Bytes part = CutBox(whole, SizeOf(dtype), shape, start, box);
          sum += FingerprintBox(part.data(), dtype, shape, start, box);
          ++boxes;
          return;
        }
        for (int i = 0; i < 3; ++i) {
          start[d] = cuts[d][i];
          box[d] = cuts[d][i + 1] - cuts[d][i];
          visit(d + 1);
        }
      };
      visit(0);
      EXPECT_EQ(sum, FingerprintBytes(whole.data(), whole.size()));
    }
  }
  EXPECT_GT(boxes, 5000);
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

TEST(FingerprintTest, HexAndFieldsAreStable) {
  const Fingerprint value = {{0x0123456789abcdef, 0xf}};
  EXPECT_EQ(value.Hex(), "0123456789abcdef000000000000000f");
  const TensorFingerprint a = {"a", DType::kF32, {2, 3}, value};
  const TensorFingerprint b = {"b.c", DType::kBF16, {}, {}};
  const std::string text = "1:a F32 [2,3] 6 " + value.Hex() +
                           "\n3:b.c BF16 [] 1 " + std::string(32, '0') + "\n";
  EXPECT_EQ(FieldFingerprint({b, a}), Sha256Hex(text).substr(0, 32));
  EXPECT_EQ(FieldFingerprint({a, b}), FieldFingerprint({b, a}));
  TensorFingerprint other_shape = a;
  other_shape.shape = {3, 2};
  EXPECT_NE(FieldFingerprint({other_shape, b}), FieldFingerprint({a, b}));
  TensorFingerprint other_dtype = a;
  other_dtype.dtype = DType::kI32;
  EXPECT_NE(FieldFingerprint({other_dtype, b}), FieldFingerprint({a, b}));
}

TEST(FingerprintDeathTest, BugsAreRefused) {
  const TensorFingerprint a = {"a", DType::kF32, {1}, {}};
  EXPECT_DEATH(FieldFingerprint({a, a}), "two tensors named a");
  const Shape shape = {4}, start = {2}, box = {3};
  const Bytes bytes(12);
  EXPECT_DEATH(FingerprintBox(bytes.data(), DType::kF32, shape, start, box),
               "dim 0");
}

// FIPS 180-4 and NIST's examples.
TEST(Sha256Test, KnownAnswers) {
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 hash;
  for (int i = 0; i < 1000; ++i) hash.Update(std::string(1000, 'a'));
  const std::string million =
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  EXPECT_EQ(hash.Hex(), million);
  EXPECT_EQ(hash.Hex(), million);  // asking does not end it
  hash.Update("b", 1);
  EXPECT_NE(hash.Hex(), million);
}

}  // namespace
}  // namespace lockstep
