#include "data/block_hasher.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

// Any number of blocks, the last whole or short: each digest is its own.
TEST(BlockHasherTest, DigestsStandInTheOrderOfBlocks) {
  int64_t compared = 0;
  for (const size_t count : {0, 1, 2, 3, 7, 12}) {
    for (const size_t last : {kHashBlockBytes, uint64_t{5}}) {
      BlockHasher hasher;
      std::vector<Digest> expected;
      for (size_t i = 0; i < count; ++i) {
        BlockHasher::Buffer block = hasher.Take();
        ASSERT_EQ(block->size(), kHashBlockBytes);
        block->assign(i + 1 == count ? last : kHashBlockBytes,
                      static_cast<char>('a' + i));
        expected.push_back(DigestOf(block->data(), block->size()));
        hasher.Add(std::move(block));
      }
      EXPECT_EQ(hasher.Finish(), expected) << count;
      compared += static_cast<int64_t>(expected.size());
    }
  }
  EXPECT_EQ(compared, 50);
}

// An attempt that fails leaves its hasher with blocks in it.
TEST(BlockHasherTest, MayBeLeftAtAnyMoment) {
  for (int count = 0; count < 4; ++count) {
    BlockHasher hasher;
    for (int i = 0; i < count; ++i) hasher.Add(hasher.Take());
  }
}

}  // namespace
}  // namespace lockstep
