// A small state of two ranks, saved by both and looked for by one.

#ifndef CKPT_TWO_RANKS_FOR_TEST_H_
#define CKPT_TWO_RANKS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ckpt/find.h"
#include "ckpt/load.h"
#include "ckpt/save.h"
#include "ckpt/snapshot.h"
#include "ckpt/split_state_for_test.h"
#include "ckpt/staging_memory.h"
#include "ckpt/test_state.h"
#include "determinism/status.h"
#include "parallel/communicator.h"
#include "parallel/thread_comm.h"
#include "parallel/thread_pool.h"

namespace lockstep {

inline constexpr int64_t kRowsOfTwo = 2;

// Each rank through the file system that it is given. `copied`: from staging
// memory, in one piece, as a save in the background is; else tensor by tensor.
// What each rank is told goes to `told`, if that is given.
inline absl::Status SaveOnTwoRanks(
    const std::function<FileSystem&(int rank)>& fs_of, int64_t step,
    bool copied, std::vector<absl::Status>* told = nullptr) {
  return RunThreadRanks(2, [&](Communicator& world) -> absl::Status {
    StateRegistry registry;
    SplitState state(registry, world.rank(), 2, kRowsOfTwo);
    state.MoveTo(step);
    ThreadPool pool(1);
    StagingMemory memory;
    Snapshot snapshot = LookAtState(registry, world.rank());
    if (copied) {
      LS_ASSIGN_OR_RETURN(snapshot,
                          CopyState(registry, world.rank(), pool, memory));
    }
    FileSystem& fs = fs_of(world.rank());
    SaveOptions options = OptionsFor(step);
    options.world = &world;
    const absl::Status done = world.rank() == 0
                                  ? SaveSnapshot(fs, options, snapshot).status()
                                  : JoinSnapshot(fs, world, snapshot);
    if (told != nullptr) (*told)[static_cast<size_t>(world.rank())] = done;
    return done;
  });
}

// The step that `auto` loads with the right bits, or -1.
inline int64_t StepOfTwoThatLoads(FileSystem& fs) {
  const auto found = FindCheckpoint(fs, kRun, ParseResume("auto"), "run-a");
  if (!found.ok() || found->fresh) return -1;
  StateRegistry registry, expected_registry;
  SplitState loaded(registry, 0, 1, kRowsOfTwo);
  SplitState expected(expected_registry, 0, 1, kRowsOfTwo);
  PoisonState(registry);
  const auto index = LoadCheckpoint(fs, found->dir, registry);
  if (!index.ok()) return -1;
  loaded.MakeRuntime();
  if (!CheckRuntimeFingerprint(registry, *index).ok()) return -1;
  expected.MoveTo(found->step);
  return StateFingerprint(registry) == StateFingerprint(expected_registry)
             ? found->step
             : -1;
}

// Whether the next generation leaves nothing but checkpoints.
inline bool LeftoversGo(FileSystem& fs) {
  if (!CleanLeftovers(fs, kRun).ok()) return false;
  for (const std::string& name : NamesIn(fs, "/run/checkpoints")) {
    if (!name.starts_with("step_")) return false;
  }
  return true;
}

}  // namespace lockstep

#endif  // CKPT_TWO_RANKS_FOR_TEST_H_
