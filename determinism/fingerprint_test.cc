// N11: fingerprints follow the written formula and add up over any shards.

#include "determinism/fingerprint.h"

#include <algorithm>
#include <functional>
#include <vector>

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

}  // namespace
}  // namespace lockstep
