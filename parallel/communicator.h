// What ranks say to each other: collectives whose result is fixed by rank
// numbers alone.
//
// One interface over threads (thread_comm.h), MPI (mpi_comm.h) and NCCL
// (nccl_comm.h), with one meaning: no result depends on who arrives first, on
// the transport or on its algorithm. Sums are of integers, which add up the
// same in any order (N5), or in an order that is written (reduction.h). The one
// exception says so in its name: AllReduceFastSum, for rungs below `bitwise`.
//
// A collective is called by all ranks of the communicator, in the same order
// and with equal sizes. Its error is decided by all together: either every rank
// gets OK or every rank gets the same code (Internal for calls that do not
// match, RankLost when somebody is gone or late; ranks are named as in the
// world, and rank_lost.h reads them back). After RankLost the communicator is
// of no further use. Memory stays the caller's. One thread a rank. Knows spans,
// no models.

#ifndef PARALLEL_COMMUNICATOR_H_
#define PARALLEL_COMMUNICATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parallel/collective.h"

namespace lockstep {

// A collective under way. Its memory must not be touched before Wait returns
// or the handle is gone.
class PendingCollective {
 public:
  // One that nobody waited for is given up: if others still need this rank,
  // they get RankLost.
  virtual ~PendingCollective() = default;

  // Until the result is there; called once.
  virtual absl::Status Wait() = 0;

  // The transport may move it while the caller computes, on a thread of its own
  // that sleeps when there is nothing to move. Without this it moves when ranks
  // wait. No result depends on it (N12); called once at most, before Wait.
  virtual void MoveInBackground() {}
  // Whether Wait would find it done, as far as is known without moving it.
  virtual bool Ended() const = 0;
};

class Communicator {
 public:
  using Pending = std::unique_ptr<PendingCollective>;

  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The number of `rank` in the communicator that this one was split from
  // first: what messages call it.
  virtual int WorldRank(int rank) const = 0;

  // Whom this rank's call under way still waits for, as numbers in the world;
  // empty: nobody, or not known. From any thread.
  virtual std::vector<int> AwaitedRanks() const { return {}; }

  // Starts any collective. Handles may be waited for in any order, and more
  // calls may be made meanwhile; all ranks start in the same order. Errors
  // come from Wait.
  virtual Pending Start(const Collective& call) = 0;

  absl::Status Barrier();

  // In place, element by element; see Reduction for each meaning.
  absl::Status AllReduceSum(std::span<int64_t> values);
  absl::Status AllReduceMax(std::span<int64_t> values);
  absl::Status AllReduceMax(std::span<float> values);
  absl::Status AllReduceOrderedSum(std::span<float> values);
  // size() is a power of two.
  absl::Status AllReduceTree(std::span<float> values);
  absl::Status AllReduceFastSum(std::span<float> values);

  // `values` is cut into one part a rank, of counts[rank] elements (zero
  // allowed), in rank order. On return this rank's part holds the join of that
  // part over all ranks; the others are as they were.
  absl::Status ReduceScatterSum(std::span<int64_t> values,
                                std::span<const int64_t> counts);
  absl::Status ReduceScatterOrderedSum(std::span<float> values,
                                       std::span<const int64_t> counts);
  absl::Status ReduceScatterTree(std::span<float> values,
                                 std::span<const int64_t> counts);

  // `out` is size() times as long as `in`, does not overlap it, and gets the
  // ranks' bytes in order.
  absl::Status AllGather(std::span<const std::byte> in,
                         std::span<std::byte> out);
  // In place: part r of `bytes`, counts[r] long, comes from rank r.
  absl::Status AllGatherV(std::span<std::byte> bytes,
                          std::span<const int64_t> counts);
  absl::Status Broadcast(std::span<std::byte> bytes, int root);

  // The same, under way while the caller goes on.
  Pending StartAllReduceSum(std::span<int64_t> values);
  Pending StartAllReduceOrderedSum(std::span<float> values);
  Pending StartAllReduceTree(std::span<float> values);
  Pending StartAllReduceFastSum(std::span<float> values);
  Pending StartReduceScatterSum(std::span<int64_t> values,
                                std::span<const int64_t> counts);
  Pending StartReduceScatterOrderedSum(std::span<float> values,
                                       std::span<const int64_t> counts);
  Pending StartAllGatherV(std::span<std::byte> bytes,
                          std::span<const int64_t> counts);

  // Between two ranks, in order for each (sender, receiver, tag); tags from 0
  // to kMaxTag. Send copies, and returns at once. A length that differs from
  // what was sent is Internal, at the receiver.
  static constexpr int kMaxTag = 16'000;
  virtual absl::Status Send(std::span<const std::byte> bytes, int peer,
                            int tag) = 0;
  virtual absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) = 0;

  // The ranks that give the same color (>= 0) form a communicator, ranked by
  // (key, rank here).
  virtual absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                              int key) = 0;

  // Every rank brings what happened to it; all get the same: OK if all are OK,
  // else the error of the lowest rank that has one, with that rank named unless
  // all ranks have this very error.
  absl::Status Agree(const absl::Status& mine);
};

// Whether Agree made it: then every rank has it, and one of them may tell.
bool IsAgreed(const absl::Status& status);

}  // namespace lockstep

#endif  // PARALLEL_COMMUNICATOR_H_
