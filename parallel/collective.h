// A collective call as a value: what all ranks ask for together.
//
// What it is: the one form in which the typed calls of Communicator reach a
// transport, a watchdog or a benchmark. What it is not: an algorithm. Why so:
// whether two ranks met in the same call, and what a message says about it, is
// then one comparison and one sentence for all transports.

#ifndef PARALLEL_COLLECTIVE_H_
#define PARALLEL_COLLECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "parallel/reduction.h"

namespace lockstep {

enum class CollectiveKind : uint8_t {
  kBarrier,
  kAllReduce,      // data: in and out on every rank
  kReduceScatter,  // data: all parts in; out only this rank's part
  kAllGather,      // data: this rank's part in; all parts out
  kBroadcast,      // data: in at root, out elsewhere
};

struct Collective {
  CollectiveKind kind = CollectiveKind::kBarrier;
  Reduction reduction = Reduction::kNone;
  int root = 0;
  // Of the caller, until the collective has ended.
  std::span<std::byte> data = {};
  // Bytes of each rank's part of `data`, in rank order; they cover it. For
  // kReduceScatter and kAllGather.
  std::vector<int64_t> part_bytes = {};
  // What it carries, for a watchdog's words; ranks need not agree on it.
  std::string purpose = {};
};

// What must be equal on all ranks, in a fixed size that can be sent.
struct CollectiveShape {
  uint32_t kind = 0;
  uint32_t reduction = 0;
  int64_t root = 0;
  uint64_t bytes = 0;
  uint64_t parts_hash = 0;
  friend bool operator==(const CollectiveShape&,
                         const CollectiveShape&) = default;
};

CollectiveShape ShapeOf(const Collective& call);

// "all-reduce (sum of int64) of 24 bytes"; "broadcast of 8 bytes from 1".
std::string Describe(const CollectiveShape& shape);

// Internal, and the same on all ranks, unless all shapes are equal; `shapes`
// and `world_ranks` by rank.
absl::Status CheckSameCall(std::span<const CollectiveShape> shapes,
                           std::span<const int> world_ranks);

// Where each part begins, and as last element where the last one ends.
std::vector<size_t> PartBegins(const Collective& call);

}  // namespace lockstep

#endif  // PARALLEL_COLLECTIVE_H_
