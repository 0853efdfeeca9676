// Messages between two ranks over MPI. Private to mpi_comm.cc.
//
// A message is its length, then its bytes in pieces that MPI's 32-bit counts
// can name. Sending copies and never waits, as over threads, so that a schedule
// cannot deadlock on one transport and run on the other. Receiving reads the
// length first: a wrong one is an error with both numbers, and the stream stays
// in step.

#ifndef PARALLEL_MPI_MESSAGE_H_
#define PARALLEL_MPI_MESSAGE_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parallel/mpi_collective.h"
#include "parallel/mpi_world.h"

namespace lockstep::mpi_internal {

class MpiSend : public Operation {
 public:
  MpiSend(MpiWorld* world, const MpiGroup& group,
          std::span<const std::byte> bytes, int peer, int tag);
  bool Step() override;
  std::vector<int> Missing() const override { return {world_rank_}; }
  bool ended() const override { return ended_; }

 private:
  MpiWorld* const world_;
  const uint64_t length_;
  std::vector<std::byte> bytes_;  // borrowed
  const int world_rank_;
  bool ended_ = false;
  std::vector<MPI_Request> requests_;
};

class MpiReceive : public Operation {
 public:
  MpiReceive(MpiWorld* world, std::shared_ptr<MpiGroup> group,
             std::span<std::byte> bytes, int peer, int tag);
  bool Step() override;
  std::vector<int> Missing() const override;

  bool ended() const override { return stage_ == Stage::kEnded; }
  uint64_t length() const { return length_; }

 private:
  enum class Stage : uint8_t { kLength, kBytes, kEnded };
  void AskFor(void* to, size_t bytes);

  MpiWorld* const world_;
  const std::shared_ptr<MpiGroup> group_;
  std::span<std::byte> bytes_;
  const int peer_, tag_;
  Stage stage_ = Stage::kLength;
  uint64_t length_ = 0;
  std::vector<std::byte> other_;  // of another length than expected
  std::vector<MPI_Request> requests_;
};

}  // namespace lockstep::mpi_internal

#endif  // PARALLEL_MPI_MESSAGE_H_
