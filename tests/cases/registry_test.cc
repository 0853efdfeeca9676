// Every entry of the registry of state, one at a time: a checkpoint without it
// does not load, and a restore that forgot it is another run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ckpt/checkpoint_index.h"
#include "ckpt/load.h"
#include "ckpt/state_entries.h"
#include "determinism/file_system.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "tests/cases/own_stepper.h"
#include "tests/cases/small_run.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Options(const std::string& name) {
  return {.recipe = SmallRecipe(name, 40),
          .sets = {"model.hidden_dropout=0.1", "precision.mode=fp16",
                   "guarantee=layout_invariant"},
          .steps = 12,
          .threads = 1,
          .until = 3};
}

std::string Checkpoint(const TrainRig& rig) {
  return rig.dir() + "/checkpoints/step_00000003";
}

TEST(RegistryCaseTest, ACheckpointWithoutAnyOneEntryIsRefusedByItsName) {
  const RigOptions options = Options("registry_lacks");
  const TrainRig rig = SmallRig("registry_lacks");
  rig.Unseed(options);
  FileSystem& fs = *PosixFileSystem();
  const std::string dir = Checkpoint(rig);
  const CheckpointIndex index = *ReadIndex(fs, dir);
  OwnStepper stepper(options, rig.dir());
  size_t refused = 0;
  for (const IndexTensor& gone : index.tensors) {
    CheckpointIndex changed = index;
    for (IndexTensor& t : changed.tensors) {
      if (t.name == gone.name) t.name = "another/" + t.name;
    }
    std::sort(changed.tensors.begin(), changed.tensors.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    ASSERT_TRUE(
        WriteFileAtomically(fs, dir + "/index.json", IndexToJson(changed))
            .ok());
    PoisonState(stepper->registry());
    const auto loaded = LoadCheckpoint(fs, dir, stepper->registry());
    EXPECT_EQ(ExitCodeFor(loaded.status()), 4) << gone.name;
    refused +=
        std::string(loaded.status().message())
                    .find("lacks " + gone.name + ";") != std::string::npos
            ? 1
            : 0;
  }
  EXPECT_EQ(refused, index.tensors.size());
  EXPECT_GT(refused, 100u);
}

// The next two steps' lines, without the clock's fields and fingerprints; or
// how the steps failed.
std::string NextSteps(OwnStepper& stepper) {
  std::string text;
  for (int step = 0; step < 2; ++step) {
    const auto report = stepper->Step();
    if (!report.ok()) return text + std::string(report.status().message());
    Json json = Json::parse(MetricsLine(*report));
    for (const char* left_out :
         {"step_ms", "tokens_per_s", "mfu", "fingerprint"}) {
      json.erase(left_out);
    }
    text += json.dump() + "\n";
  }
  return text;
}

// As a load that forgot the entry leaves it in a new program; where that is
// what was saved, the nearest other value.
void Forget(const StateEntry& entry, const StateEntry& fresh) {
  if (entry.bytes != nullptr) {
    *entry.bytes =
        *entry.bytes != *fresh.bytes ? *fresh.bytes : *entry.bytes + "x";
    return;
  }
  const size_t size = entry.size_bytes();
  if (std::memcmp(entry.data, fresh.data, size) != 0) {
    std::memcpy(entry.data, fresh.data, size);
  } else {
    *static_cast<char*>(entry.data) ^= 1;
  }
}

// What shows in the very next lines of metrics; the rest is state that waits
// (statistics of spikes, counters of the loss scale, the table of streams) and
// shows in the fingerprint of the state alone.
bool ShowsAtOnce(const StateEntry& entry) {
  const std::set<StateGroup> groups = {StateGroup::kMaster, StateGroup::kMoment,
                                       StateGroup::kCounter};
  if (entry.name == "run/skipped") return false;  // lines say of each step
  return groups.contains(entry.group) || entry.name == "run/cursor" ||
         entry.name == "run/seed";
}

TEST(RegistryCaseTest, ARestoreThatForgotAnyOneEntryIsSeen) {
  const RigOptions options = Options("registry_forgot");
  const TrainRig rig = SmallRig("registry_forgot");
  rig.Unseed(options);
  OwnStepper fresh(options, rig.dir());
  const auto untouched = CollectState(fresh->registry(), kSavedState);
  OwnStepper whole(options, rig.dir());
  whole.Load(Checkpoint(rig));
  const std::string state = StateFingerprint(whole->registry(), kSavedState);
  const std::string lines = NextSteps(whole);
  size_t at_once = 0;
  for (size_t i = 0; i < untouched.size(); ++i) {
    OwnStepper partly(options, rig.dir());
    partly.Load(Checkpoint(rig));
    const auto entries = CollectState(partly->registry(), kSavedState);
    ASSERT_EQ(entries[i].name, untouched[i].name);
    const std::string name = entries[i].name;
    const bool shows = ShowsAtOnce(entries[i]);
    Forget(entries[i], untouched[i]);
    {
      const ScopedFloatEnv float_env;
      ASSERT_TRUE(partly->RestoreRuntime().ok());
    }
    EXPECT_NE(StateFingerprint(partly->registry(), kSavedState), state) << name;
    if (!shows) continue;
    EXPECT_NE(NextSteps(partly), lines) << name;
    ++at_once;
  }
  EXPECT_GT(untouched.size(), 100u);
  EXPECT_GT(at_once, 70u);
}

}  // namespace
}  // namespace lockstep
