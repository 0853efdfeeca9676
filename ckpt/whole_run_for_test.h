// A run's folder with manifest, ledger and checkpoints, on any file system.

#ifndef CKPT_WHOLE_RUN_FOR_TEST_H_
#define CKPT_WHOLE_RUN_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ckpt/ledger.h"
#include "ckpt/manifest.h"
#include "ckpt/manifest_for_test.h"
#include "ckpt/test_state.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"

namespace lockstep {

// Saves a run of three steps as the trainer does: each checkpoint remembers the
// head of the ledger, and the ledger the checkpoint.
inline void WriteRun(FileSystem& fs, const std::string& run_dir) {
  ManualClock clock{1000};
  auto ledger = *Ledger::Open(fs, run_dir, clock, nullptr);
  Manifest manifest = Sample();
  manifest.run_id = "run-a";
  manifest.ledger_head = ledger->Head();
  ASSERT_TRUE(WriteManifest(fs, run_dir, manifest).ok());
  ASSERT_TRUE(ledger->Append("launch").ok());
  for (int64_t step = 1; step <= 3; ++step) {
    const TestState state(step);
    SaveOptions options = OptionsFor(step);
    options.run_dir = run_dir;
    options.ledger_head = ledger->Head();
    options.manifest_json = ManifestToJson(manifest);
    ASSERT_TRUE(SaveCheckpoint(fs, options, state.registry).ok());
    ASSERT_TRUE(ledger->Append("checkpoint", {{"step", step}}).ok());
  }
}

}  // namespace lockstep

#endif  // CKPT_WHOLE_RUN_FOR_TEST_H_
