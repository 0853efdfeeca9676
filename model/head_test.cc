// Whatever room the head has, its bits are the same.
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/same_bits.h"
#include "gtest/gtest.h"
#include "model/head_testing.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

using head_testing::kColumns;
using head_testing::kRows;
using head_testing::kTokens;

std::vector<HeadCase> Cases() {
  std::vector<HeadCase> cases;
  for (const DType storage : kStorageTypes) {
    cases.push_back({.storage = storage});
    cases.push_back({.storage = storage, .degree = 2});
    cases.push_back(
        {.storage = storage, .degree = 4, .sequence_parallel = true});
    cases.push_back({.storage = storage, .slices = 1, .samples_per_leaf = 2});
    cases.push_back({.storage = storage,
                     .mode = GradientMode::kLeafFp32,
                     .slices = 2,
                     .samples_per_leaf = 2,
                     .degree = 2,
                     .sequence_parallel = true});
  }
  return cases;
}

std::string NameOfCase(const HeadCase& c) {
  return std::string(NameOf(c.storage)) + ", degree " +
         std::to_string(c.degree) + ", slices " + std::to_string(c.slices);
}

void ExpectSame(const HeadBits& want, const HeadBits& got,
                const std::string& what) {
  EXPECT_TRUE(SameBits<float>(want.losses, got.losses)) << what;
  EXPECT_TRUE(SameBits<float>(want.evaluated, got.evaluated)) << what;
  EXPECT_TRUE(want.dx == got.dx) << what;
  EXPECT_TRUE(want.weight == got.weight) << what;
}

// Blocks of seven rows up to whole leaves, with room for the gradient of a
// leaf's logits and with none.
TEST(HeadTest, N1N4N5TheRoomShowsInNoBit) {
  int64_t compared = 0;
  for (const HeadCase& c : Cases()) {
    const std::vector<HeadBits> whole = RunHead(c, HeadRoom{});
    ASSERT_EQ(whole[0].losses.size(), static_cast<size_t>(kRows));
    for (const int64_t block_rows : {7, 32, 1000}) {
      for (const int64_t gradient_bytes : {0, 60'000, 1 << 30}) {
        const std::vector<HeadBits> cut =
            RunHead(c, {block_rows, gradient_bytes});
        for (size_t rank = 0; rank < cut.size(); ++rank) {
          ExpectSame(whole[rank], cut[rank],
                     NameOfCase(c) + ", rank " + std::to_string(rank) +
                         ", blocks of " + std::to_string(block_rows) +
                         ", room for " + std::to_string(gradient_bytes));
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 9 * 3 * (1 + 2 + 4 + 1 + 2));
}

// The room is used: less of it is less memory, and chunks compute their logits
// again.
TEST(HeadTest, LessRoomIsLessMemoryAndChunksCostAProduct) {
  const HeadBits whole = RunHead({}, HeadRoom{})[0];
  const HeadBits blocks = RunHead({}, {8, 1 << 30})[0];
  const HeadBits chunks = RunHead({}, {8, 0})[0];
  const int64_t block =
      (kTokens - 8) * kColumns * 4;  // of logits, that is spared
  EXPECT_EQ(whole.peak_bytes - blocks.peak_bytes, block);
  EXPECT_LT(chunks.peak_bytes, blocks.peak_bytes);
  EXPECT_EQ(blocks.flops, whole.flops);
  const int64_t product = 2 * kRows * HeadConfig().vocab * HeadConfig().hidden;
  EXPECT_EQ(chunks.flops - whole.flops, product);
}

// The canary: the leaf is part of the order where sums are fp32.
TEST(HeadTest, N5TheLeafShows) {
  HeadCase c = {.mode = GradientMode::kLeafFp32};
  const HeadBits one = RunHead(c, HeadRoom{})[0];
  c.samples_per_leaf = 2;
  const HeadBits two = RunHead(c, HeadRoom{})[0];
  EXPECT_TRUE(SameBits<float>(one.losses, two.losses));
  EXPECT_TRUE(one.dx == two.dx);
  EXPECT_FALSE(one.weight == two.weight);
}

TEST(HeadCutTest, IsARuleOfSizes) {
  const HeadCut small = CutHead(2048, 16384, 2);
  EXPECT_EQ(small.block_rows, 252);
  EXPECT_FALSE(small.recomputes);
  EXPECT_EQ(small.chunk_columns, 16384);
  const HeadCut large = CutHead(8192, 131072, 2);
  EXPECT_TRUE(large.recomputes);
  EXPECT_EQ(large.chunk_columns, 1280);
  EXPECT_LE(8192 * large.chunk_columns * (4 + 2), HeadRoom{}.gradient_bytes);
  EXPECT_EQ(CutHead(40, 16384, 2).block_rows, 40);
  // Never without a column.
  EXPECT_EQ(CutHead(int64_t{1} << 40, 256, 4).chunk_columns, 128);
  EXPECT_FALSE(CutHead(int64_t{1} << 40, 128, 4).recomputes);
}

}  // namespace
}  // namespace lockstep
