// One collective over MPI messages, as a state machine that never waits.
//
// First a roll call: every rank tells every other what it is about to do, and
// small data rides along. So calls that do not match are found before a byte
// moves, and whom a silent rank keeps waiting is known by name. Large data then
// moves directly between the ranks concerned, in rounds that bound borrowed
// memory: each rank gets its part from all and joins it in the written order
// (reduction.h), then gives the result to all. Private to mpi_comm.cc.
//
// A fast sum joins each rank's piece as it comes in.
//
// MPI's own reductions are not used even where order does not matter: measured
// over shared memory, MPI_Allreduce of floats was no faster than this for large
// buffers (64 MiB on two ranks: 209 ms to 131), up to twice as fast for small
// ones, MPI_Iallreduce slower, and neither can say whom it waits for.
//
// Flat: every rank talks to every other. Right for the eight ranks of a host;
// hundreds would want trees for the roll call.

#ifndef PARALLEL_MPI_COLLECTIVE_H_
#define PARALLEL_MPI_COLLECTIVE_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "parallel/collective.h"
#include "parallel/mpi_world.h"

namespace lockstep::mpi_internal {

// What the collectives of one communicator share.
struct MpiGroup {
  MPI_Comm collectives = MPI_COMM_NULL, messages = MPI_COMM_NULL;
  uint64_t id = 0;
  int rank = 0;
  std::vector<int> world_ranks = {};
  uint64_t sequence = 0;  // of the next collective

  int size() const { return static_cast<int>(world_ranks.size()); }
};

// Bytes that ride on the roll call; with its header below every eager limit.
constexpr size_t kInlineBytes = 2048;

class MpiCollective : public Operation {
 public:
  MpiCollective(MpiWorld* world, std::shared_ptr<MpiGroup> group,
                const Collective& call);

  bool Step() override;
  std::vector<int> Missing() const override;

  bool ended() const override { return stage_ == Stage::kEnded; }
  // Whether others may read or write this rank's memory.
  bool moving() const override { return stage_ > Stage::kRollCall && !ended(); }
  const absl::Status& status() const { return status_; }

 private:
  enum class Stage : uint8_t { kRollCall, kScatter, kGather, kEnded };

  void CallRoll();
  void AnswerRoll();  // all have answered
  void JoinInline();
  std::byte* Inline(int rank) { return Letter(letters_, rank) + kHeader; }
  std::byte* Letter(std::vector<std::byte>& all, int rank) {
    return all.data() + static_cast<size_t>(rank) * (kHeader + kInlineBytes);
  }

  // Begins the next round of the stage, or the next stage.
  void NextRound();
  bool ScatterRound();  // false when there is none left
  bool GatherRound();
  void EndScatterRound();
  // Of a fast sum.
  bool joins_on_arrival() const {
    return stage_ == Stage::kScatter &&
           call_.reduction == Reduction::kFastSumFloat;
  }
  bool JoinArrived();

  // Bytes [begin, begin + length) of a part in round `round_`, cut by `step`.
  struct Slice {
    size_t begin = 0, length = 0;
  };
  Slice SliceOf(int part, size_t step) const;
  void Receive(std::byte* to, size_t bytes, int from, int phase);
  void Send(const std::byte* from, size_t bytes, int to, int phase);
  bool RoundDone();

  static constexpr size_t kHeader = sizeof(CollectiveShape);

  MpiWorld* const world_;
  const std::shared_ptr<MpiGroup> group_;
  const Collective call_;
  const CollectiveShape shape_;
  const int tag_;

  Stage stage_ = Stage::kRollCall;
  size_t round_ = 0;
  absl::Status status_;
  std::vector<size_t> begins_;  // of the parts of data
  std::vector<std::byte> letters_, scratch_;
  std::vector<MPI_Request> requests_;
  std::vector<int> peers_;  // of each request
  // To be joined when the request is done; null: nothing is.
  std::vector<const std::byte*> arriving_;
};

}  // namespace lockstep::mpi_internal

#endif  // PARALLEL_MPI_COLLECTIVE_H_
