// Whether a run's folder holds a checkpoint that loads to the right bits.

#ifndef CKPT_LOAD_FOR_TEST_H_
#define CKPT_LOAD_FOR_TEST_H_

#include <gtest/gtest.h>

#include "ckpt/find.h"
#include "ckpt/load.h"
#include "ckpt/test_state.h"

namespace lockstep {

// Loads what `auto` finds; the step of it, with its bits checked, or -1.
inline int64_t StepThatLoads(FileSystem& fs) {
  const auto found = FindCheckpoint(fs, kRun, ParseResume("auto"), "run-a");
  if (!found.ok() || found->fresh) return -1;
  TestState loaded(1);
  PoisonState(loaded.registry);
  const auto index = LoadCheckpoint(fs, found->dir, loaded.registry);
  EXPECT_TRUE(index.ok()) << index.status();
  loaded.model.Rebuild();
  EXPECT_EQ(loaded.Fingerprint(), TestState(found->step).Fingerprint());
  return found->step;
}

}  // namespace lockstep

#endif  // CKPT_LOAD_FOR_TEST_H_
