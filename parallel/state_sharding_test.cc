#include "parallel/state_sharding.h"

#include <algorithm>
#include <numeric>

#include "determinism/philox.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

int64_t Draw(uint64_t trial, uint64_t i, int64_t below) {
  const uint32_t draw = RandomU32(
      4, {.stream = Stream::kTest, .layer = 0, .item = trial, .element = i});
  return static_cast<int64_t>(draw % static_cast<uint64_t>(below));
}

// Matrices, vectors of few rows, empty tensors.
std::vector<ShardedTensor> SomeTensors(uint64_t trial) {
  std::vector<ShardedTensor> tensors;
  const int64_t count = 1 + Draw(trial, 0, 20);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(2 * i + 1);
    tensors.push_back({.rows = Draw(trial, at, 40),
                       .row_elements = 1 + Draw(trial, at + 1, 300)});
  }
  return tensors;
}

TEST(StateShardingTest, EachRowHasOneOwnerAndBoxesAscend) {
  int64_t rows = 0;
  for (uint64_t trial = 0; trial < 40; ++trial) {
    const std::vector<ShardedTensor> tensors = SomeTensors(trial);
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const StateSharding sharding(tensors, ranks);
      for (int64_t t = 0; t < sharding.tensors(); ++t) {
        int64_t next = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const RowRange box = sharding.RowsOf(t, rank);
          EXPECT_EQ(box.begin, next);
          next = box.end;
          for (int64_t row = box.begin; row < box.end; ++row, ++rows) {
            EXPECT_EQ(sharding.OwnerOf(t, row), rank);
          }
        }
        EXPECT_EQ(next, tensors[static_cast<size_t>(t)].rows);
      }
    }
  }
  EXPECT_GT(rows, 10'000);
}

TEST(StateShardingTest, RanksDifferByAtMostTheLargestRow) {
  int compared = 0;
  for (uint64_t trial = 0; trial < 40; ++trial) {
    const std::vector<ShardedTensor> tensors = SomeTensors(trial);
    int64_t largest_row = 0, total = 0;
    for (const ShardedTensor& tensor : tensors) {
      largest_row = std::max(largest_row, tensor.row_elements);
      total += tensor.rows * tensor.row_elements;
    }
    for (int ranks = 1; ranks <= 9; ++ranks, ++compared) {
      const StateSharding sharding(tensors, ranks);
      int64_t least = INT64_MAX, most = 0, sum = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        least = std::min(least, sharding.ElementsOf(rank));
        most = std::max(most, sharding.ElementsOf(rank));
        sum += sharding.ElementsOf(rank);
      }
      EXPECT_EQ(sum, total);
      EXPECT_LE(most - least, largest_row) << ranks << " ranks";
    }
  }
  EXPECT_EQ(compared, 360);
}

// A vocabulary of 5 on 4 ranks, then a vector of 3: spare rows go round.
TEST(StateShardingTest, FewRowsLeaveRanksEmptyAndSpareOnesGoRound) {
  const std::vector<ShardedTensor> tensors = {{5, 10}, {3, 1}, {2, 8}};
  const StateSharding sharding(tensors, 4);
  EXPECT_EQ(sharding.CountsOf(0), (std::vector<int64_t>{20, 10, 10, 10}));
  EXPECT_EQ(sharding.CountsOf(1), (std::vector<int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(sharding.CountsOf(2), (std::vector<int64_t>{0, 8, 8, 0}));
  EXPECT_EQ(sharding.OwnerOf(1, 0), 1);
  EXPECT_EQ(sharding.RowsOf(2, 0), (RowRange{0, 0}));
}

TEST(StateShardingTest, BucketsCoverTheListBackwardsOnce) {
  int64_t alone = 0;
  for (uint64_t trial = 0; trial < 40; ++trial) {
    const std::vector<ShardedTensor> tensors = SomeTensors(trial);
    for (const int64_t size : {1, 1000, 1'000'000'000}) {
      auto next = static_cast<int64_t>(tensors.size());
      const auto buckets = PlanBuckets(tensors, size);
      for (size_t b = 0; b < buckets.size(); ++b) {
        int64_t elements = 0, before_last = 0;
        for (const int64_t t : buckets[b].tensors) {
          EXPECT_EQ(t, --next);
          before_last = elements;
          const ShardedTensor& tensor = tensors[static_cast<size_t>(t)];
          elements += tensor.rows * tensor.row_elements;
        }
        EXPECT_EQ(elements, buckets[b].elements);
        EXPECT_LT(before_last, size);
        if (elements - before_last >= size) {
          EXPECT_EQ(buckets[b].tensors.size(), 1u);
          alone += 1;
        } else if (b + 1 < buckets.size() && elements < size) {
          // Closed early for the sake of a tensor that goes alone.
          EXPECT_GE(buckets[b + 1].elements, size);
          EXPECT_EQ(buckets[b + 1].tensors.size(), 1u);
        }
      }
      EXPECT_EQ(next, 0);
    }
  }
  EXPECT_GT(alone, 0);
}

TEST(StateShardingTest, APackedBucketHasEveryBoxOnceByRank) {
  int64_t pieces = 0;
  for (uint64_t trial = 0; trial < 20; ++trial) {
    const std::vector<ShardedTensor> tensors = SomeTensors(trial);
    const StateSharding sharding(tensors, 3);
    for (const GradientBucket& bucket : PlanBuckets(tensors, 3000)) {
      const BucketLayout layout = LayOutBucket(sharding, bucket);
      int64_t offset = 0;
      std::vector<int64_t> counts(3, 0);
      for (const BucketPiece& piece : layout.pieces) {
        EXPECT_EQ(piece.offset, offset);
        EXPECT_EQ(piece.rows, sharding.RowsOf(piece.tensor, piece.rank));
        EXPECT_EQ(piece.elements,
                  piece.rows.rows() *
                      tensors[static_cast<size_t>(piece.tensor)].row_elements);
        EXPECT_GT(piece.elements, 0);
        offset += piece.elements;
        counts[static_cast<size_t>(piece.rank)] += piece.elements;
        ++pieces;
      }
      EXPECT_EQ(offset, bucket.elements);
      EXPECT_EQ(layout.counts, counts);
    }
  }
  EXPECT_GT(pieces, 100);
}

}  // namespace
}  // namespace lockstep
