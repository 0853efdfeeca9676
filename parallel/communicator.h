// What ranks say to each other: collectives whose result is fixed by rank
// numbers alone.
//
// One interface over threads (thread_comm.h), MPI and NCCL, with one meaning:
// no result depends on who arrives first, on the transport or on its algorithm.
// Sums are of integers, which add up the same in any order (N5), or explicitly
// in rank order. There is no "sum of floats in whatever order is quickest".
//
// A collective is called by all ranks of the communicator, in the same order
// and with equal sizes. Its error is decided by all together: either every rank
// gets OK or every rank gets the same status (Internal for calls that do not
// match, RankLost when somebody is gone or late). After RankLost the
// communicator is of no further use. Memory stays the caller's. One thread a
// rank. Knows spans, no models.

#ifndef PARALLEL_COMMUNICATOR_H_
#define PARALLEL_COMMUNICATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace lockstep {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual absl::Status Barrier() = 0;

  // In place, element by element. Two's complement: wraps, never traps.
  virtual absl::Status AllReduceSum(std::span<int64_t> values) = 0;
  virtual absl::Status AllReduceMax(std::span<int64_t> values) = 0;
  // NaN if any is NaN (the quiet one, 0x7fc00000); +0 is above -0.
  virtual absl::Status AllReduceMax(std::span<float> values) = 0;
  // ((x0 + x1) + x2) + ... by rank, each addition under N2.
  virtual absl::Status AllReduceOrderedSum(std::span<float> values) = 0;

  // `out` is size() times as long as `in`, does not overlap it, and gets the
  // ranks' bytes in order.
  virtual absl::Status AllGather(std::span<const std::byte> in,
                                 std::span<std::byte> out) = 0;
  virtual absl::Status Broadcast(std::span<std::byte> bytes, int root) = 0;

  // Between two ranks, in order for each (sender, receiver, tag). Send returns
  // once `bytes` may be reused, which may be before they are received. A length
  // that differs from what was sent is Internal, at the receiver.
  virtual absl::Status Send(std::span<const std::byte> bytes, int peer,
                            int tag) = 0;
  virtual absl::Status Recv(std::span<std::byte> bytes, int peer, int tag) = 0;

  // The ranks that give the same color (>= 0) form a communicator, ranked by
  // (key, rank here).
  virtual absl::StatusOr<std::unique_ptr<Communicator>> Split(int color,
                                                              int key) = 0;

  // Every rank brings what happened to it; all get the same: OK if all are OK,
  // else the error of the lowest rank that has one, with that rank named.
  virtual absl::Status Agree(const absl::Status& mine) = 0;
};

}  // namespace lockstep

#endif  // PARALLEL_COMMUNICATOR_H_
