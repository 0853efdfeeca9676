#include "parallel/replica_share.h"

#include "gtest/gtest.h"

namespace lockstep {
namespace {

// Public report meta-pytorch/torchrec#189 (and pytorch/pytorch#141069): ranks
// counted their own batches, the counts differed, and those with one more
// waited 30 minutes for the others. Here the counts are one function of the
// whole, for every rank alike, and unequal ones are part of the plan.
TEST(ReplicaShareTest, EveryMicroBatchHasOneReplica_Torchrec189) {
  int64_t compared = 0, empty = 0;
  for (int replicas = 1; replicas <= 9; ++replicas) {
    for (int64_t n = 0; n <= 40; ++n) {
      int64_t next = 0;
      for (int replica = 0; replica < replicas; ++replica) {
        const ReplicaShare share = ReplicaShareOf(n, replicas, replica);
        EXPECT_EQ(share.first_micro_batch, next);
        EXPECT_EQ(share.micro_batches,
                  n / replicas + (replica < n % replicas ? 1 : 0));
        EXPECT_LE(share.micro_batches, LargestShare(n, replicas));
        for (int64_t i = 0; i < share.micro_batches; ++i, ++compared) {
          EXPECT_EQ(ReplicaOf(n, replicas, next + i), replica);
        }
        empty += share.micro_batches == 0 ? 1 : 0;
        next += share.micro_batches;
      }
      EXPECT_EQ(next, n);
    }
  }
  EXPECT_EQ(compared, 9 * 40 * 41 / 2);
  EXPECT_GT(empty, 0);
}

// The report's own numbers: 97 samples in micro-batches of 4, 2 and 3 replicas.
TEST(ReplicaShareTest, NinetySevenSamples_Torchrec189) {
  EXPECT_EQ(ReplicaShareOf(25, 2, 0), (ReplicaShare{0, 13}));
  EXPECT_EQ(ReplicaShareOf(25, 2, 1), (ReplicaShare{13, 12}));
  EXPECT_EQ(ReplicaShareOf(24, 3, 2), (ReplicaShare{16, 8}));
}

}  // namespace
}  // namespace lockstep
