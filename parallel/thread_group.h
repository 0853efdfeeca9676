// What the ranks of one thread communicator share. Private to thread_comm.cc.
//
// A collective is a meeting: each rank registers what it brings, and from the
// moment the last one has, the work (meeting.h) is done in pieces by whichever
// ranks wait. So a result needs nobody but those who started the call to have
// started it: a rank that computes between Start and Wait holds nobody up.
// A meeting that is complete always ends; before that it can fail, and then for
// all. Meetings that are to move in the background are also worked on by a
// thread of the group, made when first needed.

#ifndef PARALLEL_THREAD_GROUP_H_
#define PARALLEL_THREAD_GROUP_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parallel/meeting.h"

namespace lockstep::thread_comm_internal {

class ThreadGroup {
 public:
  ThreadGroup(std::vector<int> world_ranks, int64_t timeout_ms);
  ~ThreadGroup();

  int size() const { return static_cast<int>(world_ranks_.size()); }
  int64_t timeout_ms() const { return timeout_ms_; }
  int world_rank(int rank) const {
    return world_ranks_[static_cast<size_t>(rank)];
  }

  // A rank joins its `sequence`-th meeting. Null when the group has lost a rank
  // already: Lost() says so.
  std::shared_ptr<Meeting> Join(int rank, uint64_t sequence,
                                const Collective& call);
  // Until the meeting's work is done; OK, Internal or RankLost, the same on
  // all ranks.
  absl::Status Finish(Meeting& meeting);
  // Its pieces may be done by the group's own thread, as soon as all are here.
  void MoveInBackground(std::shared_ptr<Meeting> meeting);
  bool Ended(const Meeting& meeting);
  // The rank will not wait; the others cannot complete the meeting without it.
  void GiveUp(Meeting& meeting, int rank);
  absl::Status Lost();

  // The group of those who split off with `color` after `sequence` meetings:
  // whoever comes first makes it, the last to take it ends our hold on it.
  std::shared_ptr<ThreadGroup> Child(uint64_t sequence, int color,
                                     const std::vector<int>& world_ranks);

  // A rank is gone: whoever waits for it, or will, gets RankLost. Messages
  // between the others still pass.
  void Leave(int rank);

  absl::Status Send(int from, int to, int tag,
                    std::span<const std::byte> bytes);
  absl::Status Recv(int from, int to, int tag, std::span<std::byte> bytes);

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Message = std::vector<std::byte>;
  using Address = std::tuple<int, int, int>;  // from, to, tag

  absl::Status RankGone(std::span<const int> ranks, std::string_view how) const;
  absl::Status Left(int rank) const;
  // Waits until `done` holds; false when it does not in time. Then nobody's
  // wait can succeed any more, and `missing()` names who did not come.
  template <typename Done, typename Missing>
  void WaitUntil(Lock& lock, Done done, Missing missing);

  void WorkInBackground();

  const std::vector<int> world_ranks_;
  const int64_t timeout_ms_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::shared_ptr<Meeting>> meetings_;  // not complete yet
  std::vector<bool> left_;
  absl::Status lost_;       // what a meeting answers from now on
  bool timed_out_ = false;  // lost_ holds for messages too
  std::map<Address, std::deque<Message>> mail_;
  struct Offspring {
    std::shared_ptr<ThreadGroup> group;
    size_t taken = 0;
  };
  std::map<std::pair<uint64_t, int>, Offspring> children_;

  std::condition_variable background_changed_;
  bool stopping_ = false;
  std::vector<std::shared_ptr<Meeting>> background_;  // one rank's handle each
  std::thread background_thread_;
};

}  // namespace lockstep::thread_comm_internal

#endif  // PARALLEL_THREAD_GROUP_H_
