// A run's folder in memory, to save into, spoil, search and clean.

#ifndef CKPT_RUN_FOR_TEST_H_
#define CKPT_RUN_FOR_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ckpt/find.h"
#include "ckpt/retention.h"
#include "ckpt/test_state.h"
#include "determinism/memory_file_system.h"

namespace lockstep {

inline constexpr char kCheckpoints[] = "/run/checkpoints";

class RunTest : public testing::Test {
 protected:
  RunTest() { MakeRun(fs); }

  void Save(int64_t step, const std::string& run_id = "run-a") {
    const TestState state(step);
    SaveOptions options = OptionsFor(step);
    options.run_id = run_id;
    ASSERT_TRUE(SaveCheckpoint(fs, options, state.registry).ok());
  }
  void Spoil(int64_t step) {
    Overwrite(fs,
              JoinPath(kCheckpoints,
                       CheckpointName(step) + "/rank_00000.safetensors"),
              "spoiled");
  }
  // As Spoil, without a change of length: only reading the data shows it.
  void Flip(int64_t step) {
    const std::string path = JoinPath(
        kCheckpoints, CheckpointName(step) + "/rank_00000.safetensors");
    std::string bytes = *fs.ReadFile(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    Overwrite(fs, path, bytes);
  }
  absl::StatusOr<FoundCheckpoint> Find(const std::string& resume,
                                       const std::string& run_id = "run-a") {
    return FindCheckpoint(fs, kRun, ParseResume(resume), run_id);
  }
  absl::StatusOr<RetentionReport> Retain(int64_t committed, int64_t keep,
                                         int64_t keep_every = 0) {
    return ApplyRetention(fs,
                          {.run_dir = kRun,
                           .run_id = "run-a",
                           .keep = keep,
                           .keep_every = keep_every},
                          committed);
  }
  std::vector<std::string> Names() { return *fs.List(kCheckpoints); }

  MemoryFileSystem fs;
};

using Steps = std::vector<std::string>;

}  // namespace lockstep

#endif  // CKPT_RUN_FOR_TEST_H_
