#include "parallel/replica_share.h"

#include <algorithm>

#include "determinism/check.h"

namespace lockstep {

ReplicaShare ReplicaShareOf(int64_t micro_batches, int replicas, int replica) {
  LS_CHECK_GE(micro_batches, 0);
  LS_CHECK(replica >= 0 && replica < replicas) << replica << " of " << replicas;
  const int64_t each = micro_batches / replicas;
  const int64_t longer = micro_batches % replicas;
  return {
      .first_micro_batch = replica * each + std::min<int64_t>(replica, longer),
      .micro_batches = each + (replica < longer ? 1 : 0)};
}

int ReplicaOf(int64_t micro_batches, int replicas, int64_t micro_batch) {
  LS_CHECK(micro_batch >= 0 && micro_batch < micro_batches) << micro_batch;
  const int64_t each = micro_batches / replicas;
  const int64_t longer = micro_batches % replicas;
  const int64_t in_longer = longer * (each + 1);
  if (micro_batch < in_longer)
    return static_cast<int>(micro_batch / (each + 1));
  return static_cast<int>(longer + (micro_batch - in_longer) / each);
}

int64_t LargestShare(int64_t micro_batches, int replicas) {
  return ReplicaShareOf(micro_batches, replicas, 0).micro_batches;
}

}  // namespace lockstep
