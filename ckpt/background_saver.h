// One save at a time, written while the state moves on.
//
// What it is: a rank's copy of its state, and the thread that does the rest
// with it. What it is not: what that rest is (save.h, and whoever owns the
// run's folder), or when to save. Why so: a step waits for the copy, and not
// for a device. Of the thread that trains alone; the rest runs on another, at
// a lower priority, since a core has better things to do while it steps.

#ifndef CKPT_BACKGROUND_SAVER_H_
#define CKPT_BACKGROUND_SAVER_H_

#include <atomic>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "ckpt/snapshot.h"
#include "ckpt/staging_memory.h"
#include "determinism/state.h"
#include "parallel/thread_pool.h"

namespace lockstep {

class BackgroundSaver {
 public:
  // What is done with the copy, on the other thread.
  using Rest = std::function<absl::Status(Snapshot&)>;

  BackgroundSaver() = default;
  // Gives up what is under way.
  ~BackgroundSaver() { GiveUp(); }
  BackgroundSaver(const BackgroundSaver&) = delete;
  BackgroundSaver& operator=(const BackgroundSaver&) = delete;

  // Room for a copy, before the first is due; the system gives its pages in the
  // background.
  absl::Status Prepare(const StateRegistry& registry, int rank);

  // Returns once the state of this moment is copied. None is under way (a bug).
  absl::Status Begin(const StateRegistry& registry, int rank, ThreadPool& pool,
                     Rest rest);

  // Whether what is under way has ended, and not well: Finish says how.
  bool Failed() const { return failed_.load(); }
  // Waits for what is under way; OK if nothing is. Says once what became of it.
  absl::Status Finish();
  // Ends what is under way as soon as can be; nobody wants it any more.
  void GiveUp();

 private:
  void Run(std::function<absl::Status()> work);

  StagingMemory memory_;
  Snapshot snapshot_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> given_up_{false};
  absl::Status status_;  // of the thread, once it is joined
  std::thread thread_;
};

}  // namespace lockstep

#endif  // CKPT_BACKGROUND_SAVER_H_
