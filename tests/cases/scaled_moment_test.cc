// The canary of what betas allow of a moment.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/save.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/cases/own_stepper.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

// Multiplies the first element of one first moment.
class Scaler : public StateVisitor {
 public:
  void Tensor(const StateTensor& t) override {
    if (scaled || !absl::EndsWith(t.name, ".exp_avg")) return;
    float* const m = static_cast<float*>(t.data);
    for (int64_t i = 0; i < t.box_shape[0]; ++i) {
      if (m[i] == 0) continue;
      m[i] *= 1e6f;
      scaled = true;
      name = absl::StrCat("element ", i, " of ", t.name, " is ");
      return;
    }
  }
  void U64(const std::string&, StateGroup, uint64_t&) override {}
  void I64(const std::string&, StateGroup, int64_t&) override {}
  void F64(const std::string&, StateGroup, double&) override {}
  void Bytes(const std::string&, StateGroup, std::string&) override {}

  bool scaled = false;
  std::string name;
};

// Memory that changes between an update and the save is in the
// hashes and in the fingerprints; the betas still tell.
TEST(ScaledMomentCaseTest, AMomentThatWasScaledBeforeTheSaveIsNamed) {
  const RigOptions options = {
      .recipe = SmallRecipe("moments_scaled", 40), .sets = {}, .steps = 6};
  const TrainRig rig = SmallRig("moments_scaled");
  RigOptions part = options;
  part.until = 4;
  rig.Unseed(part);
  const std::string checkpoint = rig.dir() + "/checkpoints/step_00000004";
  OwnStepper stepper(options, rig.dir());
  stepper.Load(checkpoint);
  Scaler scaler;
  stepper->registry().Visit(scaler);
  ASSERT_TRUE(scaler.scaled);
  FileSystem& fs = *PosixFileSystem();
  const CheckpointIndex index = *ReadIndex(fs, checkpoint);
  const auto saved = SaveCheckpoint(
      fs,
      {.run_dir = rig.dir(),
       .step = 4,
       .run_id = index.run_id,
       .manifest_json = *fs.ReadFile(checkpoint + "/manifest.json"),
       .ledger_head = index.ledger_head},
      stepper->registry());
  ASSERT_TRUE(saved.ok()) << saved.status();
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 4) << result.status;
  EXPECT_TRUE(absl::StrContains(result.status.message(), scaler.name))
      << result.status << "\nwanted: " << scaler.name;
}

}  // namespace
}  // namespace lockstep
