// What all communicators of a process share over MPI: its polling loop, notices
// between ranks, and the one answer once a rank is lost. Private to
// mpi_comm.cc.
//
// Every wait is Await: poll, look at the time, yield. A rank that gives up
// tells all others by a notice, so that they give up at once and with the same
// words instead of each after a timeout of its own. After that this process
// makes no more MPI calls: requests may still point at memory that is going
// away.
//
// Several threads may be in here, one at a time: the rank's own, which made
// this; while collectives are to move in the background, one that looks after
// them and sleeps between looks; and one that has communicators of its own, to
// save while the rank computes. Whoever calls MPI or touches an operation holds
// the mutex.

#ifndef PARALLEL_MPI_WORLD_H_
#define PARALLEL_MPI_WORLD_H_

#include <mpi.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parallel/mpi_comm.h"

namespace lockstep::mpi_internal {

// Something under way that moves when it is asked to.
class Operation {
 public:
  virtual ~Operation() = default;
  // Does what can be done without waiting. False once it has ended.
  virtual bool Step() = 0;
  // Ranks of the world that it still needs something from.
  virtual std::vector<int> Missing() const = 0;
  // Whether it will never move again, and whether bytes are on their way.
  virtual bool ended() const = 0;
  virtual bool moving() const { return !ended(); }
};

// The fixed form in which ranks tell each other that it is over.
struct Notice {
  enum Kind : int32_t { kLeft, kLost };
  static constexpr size_t kMaxRanks = 64, kMaxText = 128;

  uint64_t group = 0;  // kLeft: which communicator
  int32_t kind = kLeft;
  int32_t ranks = 0;  // how many of `rank` count
  int32_t rank[kMaxRanks] = {};
  char text[kMaxText] = {};
};

class MpiWorld {
 public:
  using Lock = std::unique_lock<std::recursive_mutex>;

  // `background`: MPI may be called from a second thread, one at a time.
  MpiWorld(const MpiCommOptions& options, bool background);
  ~MpiWorld();

  const MpiCommOptions& options() const { return options_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  Lock Locked() { return Lock(mutex_); }

  // Takes notices, and moves all that is under way. Not after a loss.
  void Progress();
  // `operation` is moved by every Progress until it has ended.
  void Add(std::shared_ptr<Operation> operation);
  // Also while the rank computes.
  void MoveInBackground(std::shared_ptr<Operation> operation);
  // It never moves again, though MPI may still write into what it owns. False,
  // and nothing happens, when its bytes are on their way.
  bool Abandon(const std::shared_ptr<Operation>& operation);

  // Polls until `operation` has ended; or RankLost, now and for ever, when it
  // has not in time or somebody it needs has left `group`.
  absl::Status Await(const Operation& operation, uint64_t group);
  // Whom the Await of the rank's own thread misses.
  std::vector<int> AwaitedRanks() const;

  absl::Status lost() const {
    const Lock lock(mutex_);
    return lost_;
  }
  // This rank cannot go on: lost() from now on, here and everywhere.
  absl::Status GiveUp(std::span<const int> ranks, const std::string& how);
  // A communicator ends on this rank; its other members learn of it.
  void Leave(uint64_t group, std::span<const int> members);

  // Memory for what is under way, at least `bytes` long and of any content.
  // Given back, it is kept: fresh pages cost more than the copy into them.
  std::vector<std::byte> Borrow(size_t bytes);
  void GiveBack(std::vector<std::byte> buffer);

  // Ends MPI unless something was lost.
  void Finalize();

 private:
  class Awaiting;

  bool OfTheRank() const { return std::this_thread::get_id() == rank_thread_; }
  void Tell(const Notice& notice, int rank);
  void Take(const Notice& notice, int from);
  void TakeNotices();
  // Who of `ranks` left `group` long enough ago for all they sent to be here.
  std::vector<int> Gone(uint64_t group, const std::vector<int>& ranks) const;
  void WorkInBackground();
  void SetAwaited(std::vector<int> ranks);
  void StopBackground();

  const MpiCommOptions options_;
  const std::thread::id rank_thread_ = std::this_thread::get_id();
  int rank_ = 0, size_ = 1;
  MPI_Comm notices_ = MPI_COMM_NULL;
  absl::Status lost_;
  // (communicator, rank of the world) -> when its notice came, in ms.
  std::map<std::pair<uint64_t, int>, int64_t> left_;
  std::list<std::shared_ptr<Operation>> under_way_, abandoned_;
  struct Told {
    Notice notice;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<Told> told_;                                 // not sent yet
  std::multimap<size_t, std::vector<std::byte>> spare_;  // by size

  mutable std::recursive_mutex mutex_;
  const bool background_allowed_;
  std::condition_variable_any background_changed_;
  std::list<std::shared_ptr<Operation>> background_;  // part of under_way_
  bool stopping_ = false;
  bool awaiting_ = false;  // the rank looks after everything itself
  std::thread background_thread_;

  mutable std::mutex awaited_mutex_;
  std::vector<int> awaited_;
};

// LS_CHECKs that an MPI call succeeded; for calls that fail on misuse alone.
void CheckMpi(int code, const char* call);

int64_t NowMs();

}  // namespace lockstep::mpi_internal

#endif  // PARALLEL_MPI_WORLD_H_
