// Saves while the state moves: what is on the device is the state of one
// moment, and what goes wrong is told.

#include "ckpt/background_saver.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ckpt/save.h"
#include "ckpt/saving_for_test.h"
#include "ckpt/split_state_for_test.h"
#include "ckpt/test_state.h"
#include "determinism/fault.h"
#include "determinism/fault_file_system.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "parallel/thread_comm.h"

namespace lockstep {
namespace {

TEST(BackgroundSaver, SavesTheStateOfTheMomentItWasAskedFor) {
  for (const int ranks : {1, 2, 4}) {
    MemoryFileSystem fs;
    MakeRun(fs);
    int64_t seen = 0;
    const absl::Status done =
        OnRanks(ranks, fs, [&](Saving& saving, Communicator& world) {
          for (int64_t step = 1; step <= 5; ++step) {
            LS_RETURN_IF_ERROR(saving.SaveStep(step));
          }
          LS_RETURN_IF_ERROR(saving.Finish());
          if (world.rank() == 0) seen = StepFound(fs);
          return world.Barrier();
        });
    ASSERT_TRUE(done.ok()) << done;
    EXPECT_EQ(seen, 5) << ranks;
    EXPECT_EQ(NamesIn(fs, "/run/checkpoints").size(), 5u) << ranks;
    for (int64_t step = 5; step >= 1; --step) {
      EXPECT_EQ(StepFound(fs), step);
      ASSERT_TRUE(
          fs.RemoveTree(JoinPath("/run/checkpoints", CheckpointName(step)))
              .ok());
    }
  }
}

// A power cut at any call of a save of two ranks, with any legal loss. The
// ranks' calls on their own files come in any order, so each run has its own.
TEST(BackgroundSaver, EveryPrefixOfASaveOfTwoRanksLoadsOldOrNew) {
  int64_t points = 0, old_loads = 0, new_loads = 0;
  bool finished = false;
  for (int64_t limit = 0; !finished; ++limit) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      MemoryFileSystem fs;
      MakeRun(fs);
      const absl::Status done =
          OnRanks(2, fs, [&](Saving& saving, Communicator& world) {
            LS_RETURN_IF_ERROR(saving.SaveStep(5));
            LS_RETURN_IF_ERROR(saving.Finish());
            if (world.rank() == 0) fs.FailAfter(limit);
            LS_RETURN_IF_ERROR(world.Barrier());
            LS_RETURN_IF_ERROR(saving.SaveStep(6));
            return saving.Finish();
          });
      finished = done.ok();
      fs.Crash(seed);
      const int64_t step = StepFound(fs);
      ASSERT_TRUE(step == 6 || (step == 5 && !finished))
          << "call " << limit << " seed " << seed << " loads " << step;
      (step == 5 ? old_loads : new_loads) += 1;
      ++points;
      ASSERT_TRUE(CleanLeftovers(fs, kRun).ok());
      for (const std::string& name : NamesIn(fs, "/run/checkpoints")) {
        EXPECT_EQ(name.find("step_"), 0u) << name;
      }
    }
  }
  EXPECT_GT(points, 8 * 16);
  EXPECT_GT(old_loads, 8 * 10);
  EXPECT_GE(new_loads, 8);
  printf("%lld crash states\n", static_cast<long long>(points));
}

TEST(BackgroundSaver, AFailureOfOneRankIsToldOnAll) {
  for (const char* point : {"save.shard.create", "save.shard.write",
                            "save.shard.sync", "save.shard.close"}) {
    MemoryFileSystem disk;
    MakeRun(disk);
    std::vector<std::string> told(2);
    const absl::Status done =
        RunThreadRanks(2, [&](Communicator& world) -> absl::Status {
          LS_ASSIGN_OR_RETURN(const auto own, world.Split(0, world.rank()));
          FaultPlan plan(
              {*ParseFault(std::string("kind=eio,rank=1,at=") + point)},
              world.rank());
          plan.BeginStep(1, 0);
          FaultFileSystem fs(&disk, &plan);
          Saving saving(fs, world, *own);
          LS_RETURN_IF_ERROR(saving.SaveStep(1));
          while (!saving.saver().Failed()) std::this_thread::yield();
          const absl::Status status = saving.Finish();
          told[static_cast<size_t>(world.rank())] = Text(status);
          EXPECT_EQ(ExitCodeFor(status), 7);
          EXPECT_FALSE(saving.saver().Failed());
          EXPECT_TRUE(saving.Finish().ok()) << "told once";
          LS_RETURN_IF_ERROR(saving.SaveStep(2));
          return saving.Finish();
        });
    ASSERT_TRUE(done.ok()) << done;
    EXPECT_EQ(told[0].find("rank 1: "), 0u) << told[0];
    EXPECT_EQ(told[0], told[1]);
    EXPECT_EQ(StepFound(disk), 2) << point;
    EXPECT_EQ(NamesIn(disk, "/run/checkpoints").size(), 1u);
  }
}

TEST(BackgroundSaver, WhatNobodyWantsIsGivenUp) {
  StateRegistry registry;
  SplitState state(registry, 0, 1);
  ThreadPool pool(1);
  bool told = false;
  {
    BackgroundSaver saver;
    ASSERT_TRUE(saver
                    .Begin(registry, 0, pool,
                           [&](Snapshot& snapshot) {
                             while (!snapshot.given_up->load()) {
                               std::this_thread::yield();
                             }
                             told = true;
                             return absl::OkStatus();
                           })
                    .ok());
  }
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace lockstep
