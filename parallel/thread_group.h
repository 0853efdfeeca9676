// What the ranks of one thread communicator share. Private to thread_comm.cc.
//
// A collective is two rendezvous with work between them: Meet, where each rank
// finds what all the others brought, and Part, after which nobody looks at it
// any more. Only Meet can fail, and then for all: between the two every rank is
// known to be inside, so nobody's memory goes away under another's hands.

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
#include <tuple>
#include <vector>

#include "absl/status/status.h"

namespace lockstep::thread_comm_internal {

class ThreadGroup;

// What a rank brings to a collective.
struct Slot {
  const char* operation = "";
  uint64_t count = 0;  // elements or bytes; equal on all ranks
  int root = 0;        // equal on all ranks
  void* data = nullptr;
  const void* in = nullptr;
  int color = 0, key = 0;
  absl::Status status = {};
  std::shared_ptr<ThreadGroup> child = {};
};

class ThreadGroup {
 public:
  ThreadGroup(int size, int64_t timeout_ms);

  int size() const { return static_cast<int>(slots_.size()); }
  int64_t timeout_ms() const { return timeout_ms_; }

  // A rank writes its own before Meet and reads all until Part.
  Slot& slot(int rank) { return slots_[static_cast<size_t>(rank)]; }

  // OK, or the same RankLost on every rank that calls, now and later.
  absl::Status Meet(int rank);
  void Part();

  // Whether all slots name one call; the same answer on all ranks.
  absl::Status CheckSame() const;

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

  // Waits until `done` holds; else nobody's wait can succeed any more.
  template <typename Done>
  void WaitUntil(Lock& lock, Done done, int for_rank);
  std::string Missing() const;

  const int64_t timeout_ms_;
  std::vector<Slot> slots_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> present_;  // who waits in Meet
  int met_ = 0, parted_ = 0;
  uint64_t meetings_ = 0, partings_ = 0;
  std::vector<bool> left_;
  absl::Status lost_;       // what Meet answers from now on
  bool timed_out_ = false;  // lost_ holds for messages too
  std::map<Address, std::deque<Message>> mail_;
};

}  // namespace lockstep::thread_comm_internal

#endif  // PARALLEL_THREAD_GROUP_H_
