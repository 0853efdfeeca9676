// Which micro-batches of the global batch a data-parallel replica gets.
//
// Whole consecutive micro-batches, the first (n mod d) replicas one more; a
// replica may get none. It still takes part in every collective, so nobody
// waits for a batch that does not exist. What it is not: an order of samples
// (data/) or a weight: losses are sums over valid tokens, so unequal shares
// need no correction.

#ifndef PARALLEL_REPLICA_SHARE_H_
#define PARALLEL_REPLICA_SHARE_H_

#include <cstdint>

namespace lockstep {

struct ReplicaShare {
  int64_t first_micro_batch = 0;
  int64_t micro_batches = 0;  // may be 0
  friend bool operator==(const ReplicaShare&, const ReplicaShare&) = default;
};

// Of replica `replica` in [0, replicas), for `micro_batches` >= 0 in all.
ReplicaShare ReplicaShareOf(int64_t micro_batches, int replicas, int replica);

// The replica that computes `micro_batch`.
int ReplicaOf(int64_t micro_batches, int replicas, int64_t micro_batch);

// The largest share: what a pipeline's longest schedule has.
int64_t LargestShare(int64_t micro_batches, int replicas);

}  // namespace lockstep

#endif  // PARALLEL_REPLICA_SHARE_H_
