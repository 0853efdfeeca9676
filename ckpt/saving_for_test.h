// Ranks that save a state in the background while they step on.

#ifndef CKPT_SAVING_FOR_TEST_H_
#define CKPT_SAVING_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ckpt/background_saver.h"
#include "ckpt/find.h"
#include "ckpt/load.h"
#include "ckpt/save.h"
#include "ckpt/split_state_for_test.h"
#include "ckpt/test_state.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "parallel/communicator.h"
#include "parallel/thread_comm.h"
#include "parallel/thread_pool.h"

namespace lockstep {

// One rank that saves in the background and steps on.
class Saving {
 public:
  Saving(FileSystem& fs, Communicator& world, Communicator& ranks)
      : fs_(fs),
        world_(world),
        ranks_(ranks),
        state_(registry_, world.rank(), world.size()) {}

  absl::Status Open() { return saver_.Prepare(registry_, world_.rank()); }

  // The state after `step` is saved, and is another one at once.
  absl::Status SaveStep(int64_t step) {
    LS_RETURN_IF_ERROR(saver_.Finish());
    state_.MoveTo(step);
    LS_RETURN_IF_ERROR(
        saver_.Begin(registry_, world_.rank(), pool_, Rest(step)));
    state_.MoveTo(step + 100);
    return absl::OkStatus();
  }
  absl::Status Finish() { return saver_.Finish(); }
  BackgroundSaver& saver() { return saver_; }

 private:
  BackgroundSaver::Rest Rest(int64_t step) {
    return [this, step](Snapshot& snapshot) -> absl::Status {
      if (ranks_.rank() != 0) return JoinSnapshot(fs_, ranks_, snapshot);
      SaveOptions options = OptionsFor(step);
      options.world = &ranks_;
      return SaveSnapshot(fs_, options, snapshot).status();
    };
  }

  FileSystem& fs_;
  Communicator& world_;
  Communicator& ranks_;
  StateRegistry registry_;
  SplitState state_;
  ThreadPool pool_{2};
  BackgroundSaver saver_;
};

inline absl::Status OnRanks(
    int ranks, FileSystem& fs,
    const std::function<absl::Status(Saving&, Communicator&)>& body) {
  return RunThreadRanks(ranks, [&](Communicator& world) -> absl::Status {
    LS_ASSIGN_OR_RETURN(const auto own, world.Split(0, world.rank()));
    Saving saving(fs, world, *own);
    LS_RETURN_IF_ERROR(saving.Open());
    return body(saving, world);
  });
}

// The step of what `auto` finds, its bits checked on one rank; or -1.
inline int64_t StepFound(FileSystem& fs) {
  const auto found = FindCheckpoint(fs, kRun, ParseResume("auto"), "run-a");
  if (!found.ok() || found->fresh) return -1;
  StateRegistry registry, expected_registry;
  SplitState loaded(registry, 0, 1), expected(expected_registry, 0, 1);
  PoisonState(registry);
  const auto index = LoadCheckpoint(fs, found->dir, registry);
  EXPECT_TRUE(index.ok()) << index.status();
  loaded.MakeRuntime();
  EXPECT_TRUE(CheckRuntimeFingerprint(registry, *index).ok());
  expected.MoveTo(found->step);
  EXPECT_EQ(StateFingerprint(registry), StateFingerprint(expected_registry));
  return found->step;
}

}  // namespace lockstep

#endif  // CKPT_SAVING_FOR_TEST_H_
