// A checkpoint of step 6 in memory, to be damaged.

#ifndef CKPT_DAMAGE_FOR_TEST_H_
#define CKPT_DAMAGE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ckpt/load.h"
#include "ckpt/test_state.h"
#include "ckpt/verify.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {

inline constexpr char kDir[] = "/run/checkpoints/step_00000006";

inline std::string PathOf(const std::string& name) {
  return JoinPath(kDir, name);
}

class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    MakeRun(fs);
    index = SaveStep(fs, 6)->index;
  }

  std::string Read(const std::string& name) {
    return *fs.ReadFile(PathOf(name));
  }
  absl::Status LoadStatus() {
    TestState state(1);
    return LoadCheckpoint(fs, kDir, state.registry).status();
  }
  VerifyResult Verify() { return *VerifyCheckpoint(fs, kDir); }
  void ExpectUnusable(const std::string& part) {
    EXPECT_FALSE(Verify().ok) << part;
    ExpectNotLoaded(part);
  }
  void ExpectNotLoaded(const std::string& part) {
    const absl::Status status = LoadStatus();
    EXPECT_EQ(ExitCodeFor(status), 4) << part;
    EXPECT_NE(Text(status).find(part), std::string::npos)
        << part << " in " << status;
  }
  // The index as a forger would leave it: with a seal that holds.
  void Reseal(const std::function<void(CheckpointIndex&)>& change) {
    CheckpointIndex changed = index;
    change(changed);
    Overwrite(fs, PathOf("index.json"), IndexToJson(changed));
  }

  MemoryFileSystem fs;
  CheckpointIndex index;
};

}  // namespace lockstep

#endif  // CKPT_DAMAGE_FOR_TEST_H_
