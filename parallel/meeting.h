// One collective among threads: who brought what, and its work in pieces.
//
// What it is: pieces of the result that any thread may compute, since every
// rank's memory is in reach and a piece's bytes do not depend on who computes
// it; a fast sum alone adds in the order in which ranks came, which the meeting
// knows and all its pieces share. What it is not: waiting; thread_group.h does
// that under its lock. Private to the thread transport.

#ifndef PARALLEL_MEETING_H_
#define PARALLEL_MEETING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "parallel/collective.h"

namespace lockstep::thread_comm_internal {

class Meeting {
 public:
  explicit Meeting(int size);

  // Before the meeting is complete, under the group's lock.
  void Bring(int rank, const Collective& call);
  bool Complete() const { return brought_ == calls_.size(); }
  std::vector<int> Missing() const;
  // Once, by the last to come: whether all brought the same call, and the
  // pieces.
  void Open(const std::vector<int>& world_ranks);

  const absl::Status& verdict() const { return verdict_; }
  // Does pieces until none is left to take; true for the call that ended the
  // last one.
  bool Work();
  bool Done() const { return done_.load() == pieces_.size(); }

 private:
  // Bytes [begin, end) of the call's data, which lie in part `part`.
  struct Piece {
    size_t part, begin, end;
  };

  void CutInto(size_t part, size_t begin, size_t end, size_t step);
  void Do(const Piece& piece);
  void Reduce(const Piece& piece, bool to_all);
  void CopyFrom(size_t source, const Piece& piece);

  std::vector<Collective> calls_;  // by rank
  std::vector<bool> present_;
  size_t brought_ = 0;
  std::vector<size_t> order_;  // ranks as they came
  absl::Status verdict_;
  std::vector<Piece> pieces_;
  std::atomic<size_t> taken_{0}, done_{0};
};

}  // namespace lockstep::thread_comm_internal

#endif  // PARALLEL_MEETING_H_
