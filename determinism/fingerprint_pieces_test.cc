// N11: levels agree, tensors taken together are those taken alone, and the
// pieces of a box add up however they are cut.

#include "determinism/fingerprint_pieces.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "determinism/cpu_level.h"
#include "determinism/fingerprint_kernel.h"
#include "determinism/philox.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

using Bytes = std::vector<unsigned char>;
using Shape = std::vector<int64_t>;
using fingerprint_internal::AddWords;

uint64_t Draw(uint64_t item, uint64_t i, uint64_t below) {
  return RandomU32(4, {Stream::kTest, 3, item, i}) % below;
}

Bytes RandomBytes(uint64_t item, size_t n) {
  Bytes bytes(n);
  for (size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<unsigned char>(Draw(item, i, 256));
  }
  return bytes;
}

// Levels above scalar that this machine has.
std::vector<AddWords> FastLevels() {
  std::vector<AddWords> fast;
  if (CpuHasAvx2()) fast.push_back(avx2::FingerprintWords);
  if (CpuHasAvx512()) fast.push_back(avx512::FingerprintWords);
  return fast;
}

TEST(FingerprintPiecesTest, N11LevelsAgree) {
  if (FastLevels().empty()) GTEST_SKIP() << "scalar is the only level here";
  const Bytes bytes = RandomBytes(1, 80'000);
  int64_t compared = 0;
  for (int64_t count = 0; count < 17'000; count += count < 100 ? 1 : 977) {
    for (const uint32_t first : {0u, 12345u, 0xfffffff0u}) {
      for (int tensors = 1; tensors <= 4; ++tensors) {
        // Odd addresses, each its own, some overlapping.
        const unsigned char* data[4] = {&bytes[3], &bytes[1000], &bytes[5001],
                                        &bytes[11'998]};
        const fingerprint_internal::Words words = {data,  tensors, count,
                                                   first, 99,      nullptr};
        uint64_t want[4][2] = {{1, 2}, {3, 4}};
        scalar::FingerprintWords(words, want);
        alignas(64) static unsigned char room[4][68'032];
        unsigned char* const copies[4] = {room[0], room[1], room[2], room[3]};
        fingerprint_internal::Words copied = words;
        copied.copies = copies;
        for (const AddWords add_words : FastLevels()) {
          uint64_t got[4][2] = {{1, 2}, {3, 4}};
          add_words(words, got);
          uint64_t with_copies[4][2] = {{1, 2}, {3, 4}};
          std::memset(room, 0, sizeof(room));
          add_words(copied, with_copies);
          for (int t = 0; t < tensors; ++t) {
            ASSERT_EQ(
                std::memcmp(room[t], data[t], 4 * static_cast<size_t>(count)),
                0);
            ASSERT_EQ(with_copies[t][0], want[t][0]) << count << ", " << t;
          }
          for (int t = 0; t < 4; ++t) {
            ASSERT_EQ(got[t][0], want[t][0]) << count << ", " << t;
            ASSERT_EQ(got[t][1], want[t][1]) << count << ", " << t;
          }
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 118 * 3 * 4 * static_cast<int64_t>(FastLevels().size()));
}

TEST(FingerprintPiecesTest, N11TensorsTakenTogetherAreThoseTakenAlone) {
  const Bytes bytes = RandomBytes(2, 20'000);
  const uint64_t wrap = uint64_t{1} << 34;  // where hi32(i) changes
  int64_t compared = 0;
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{3}, wrap - 30, wrap + 1}) {
    for (const size_t size : {0, 1, 2, 5, 64, 1001, 4096}) {
      for (size_t tensors = 1; tensors < 10; ++tensors) {
        std::vector<const void*> data;
        for (size_t t = 0; t < tensors; ++t) data.push_back(&bytes[1231 * t]);
        std::vector<Fingerprint> sums(tensors, Fingerprint{{7, 9}});
        AddFingerprints(data, size, offset, sums);
        for (size_t t = 0; t < tensors; ++t) {
          Fingerprint want = {{7, 9}};
          want += FingerprintBytes(data[t], size, offset);
          EXPECT_EQ(sums[t], want) << offset << ", " << size << ", " << t;
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 4 * 7 * 45);
}

// Wherever the copies lie, all bytes are there and none beside them, and the
// sums are those without copies. Every level, at sizes with and without
// vectors.
TEST(FingerprintPiecesTest, N11CopiesOnTheWayChangeNoSum) {
  const Bytes bytes = RandomBytes(3, 40'000);
  int64_t compared = 0;
  for (const size_t shift : {0, 4, 3, 60, 240}) {
    for (const bool apart : {false, true}) {
      for (const size_t size : {0, 3, 64, 100, 1000, 4099, 8192}) {
        for (const uint64_t offset : {0, 5, 1 << 20}) {
          for (size_t tensors = 1; tensors < 7; ++tensors) {
            alignas(64) static unsigned char room[7][9024];
            std::memset(room, 0xee, sizeof(room));
            std::vector<const void*> data;
            std::vector<std::byte*> copies;
            for (size_t t = 0; t < tensors; ++t) {
              data.push_back(&bytes[1231 * t + 1]);
              copies.push_back(reinterpret_cast<std::byte*>(
                  room[t] + shift + (apart ? 4 * t : 0)));
            }
            std::vector<Fingerprint> want(tensors), got(tensors);
            AddFingerprints(data, size, offset, want);
            AddFingerprints(data, size, offset, got, copies);
            EXPECT_EQ(got, want);
            for (size_t t = 0; t < tensors; ++t) {
              EXPECT_EQ(std::memcmp(copies[t], data[t], size), 0) << t;
              const auto* all = reinterpret_cast<unsigned char*>(copies[t]);
              EXPECT_EQ(all[size], 0xee);
              EXPECT_TRUE(all == room[t] || all[-1] == 0xee);
              ++compared;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 5 * 2 * 7 * 3 * 21);
}

// A box of a larger tensor, all at once and in random pieces.
TEST(FingerprintPiecesTest, N11PiecesOfABoxAddUp) {
  const Shape shapes[] = {{40}, {9, 13}, {5, 7, 6}, {4, 3, 5, 4}};
  int64_t pieces = 0, cut_boxes = 0;
  for (uint64_t trial = 0; trial < 200; ++trial) {
    for (const Shape& shape : shapes) {
      const DType dtype = trial % 2 == 0 ? DType::kF32 : DType::kBF16;
      Shape start, box;
      for (size_t d = 0; d < shape.size(); ++d) {
        const auto extent = static_cast<uint64_t>(shape[d]);
        start.push_back(static_cast<int64_t>(Draw(trial + 50, d, extent)));
        box.push_back(static_cast<int64_t>(
            1 + Draw(trial + 5000, d, extent - start.back())));
      }
      const BoxPieces place(shape, start, box);
      const size_t item = SizeOf(dtype);
      const Bytes a = RandomBytes(trial, place.count() * item);
      const Bytes b = RandomBytes(trial + 9, place.count() * item);
      const void* data[2] = {a.data(), b.data()};
      Fingerprint sums[2];
      for (int64_t begin = 0, end; begin < place.count(); begin = end) {
        end = std::min<int64_t>(place.count(),
                                begin + 1 + Draw(trial, pieces++, 7));
        place.Add(data, item, begin, end, sums);
      }
      EXPECT_EQ(sums[0], FingerprintBox(a.data(), dtype, shape, start, box));
      EXPECT_EQ(sums[1], FingerprintBox(b.data(), dtype, shape, start, box));
      cut_boxes += box.back() < shape.back() ? 1 : 0;
    }
  }
  EXPECT_GT(pieces, 2000);
  EXPECT_GT(cut_boxes, 300);
}

}  // namespace
}  // namespace lockstep
