#include "tools/restore.h"

#include "ckpt/load.h"
#include "ckpt/manifest.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "tools/moment_history.h"

namespace lockstep {
namespace {

constexpr char kGrid[] = "gradient_grid";

// A manifest that cannot be read is damage, which the load tells.
bool OnAnotherRung(FileSystem& fs, const Stepper& stepper,
                   const std::string& checkpoint) {
  const auto manifest = ReadManifest(fs, checkpoint);
  return manifest.ok() && manifest->guarantee != stepper.config().guarantee;
}

}  // namespace

absl::StatusOr<CheckpointIndex> RestoreStepper(
    FileSystem& fs, Stepper& stepper, const std::string& checkpoint,
    Communicator* world, std::vector<std::string>* notes) {
  const MomentHistory history = MomentHistoryOf(fs, checkpoint);
  if (!history.bound && notes != nullptr) {
    notes->push_back("Adam's moments were only checked to be numbers: " +
                     history.why_unbounded);
  }
  LoadOptions options = {.world = world, .moments = history.bound};
  if (OnAnotherRung(fs, stepper, checkpoint)) options.free_object = kGrid;
  PoisonState(stepper.registry());
  LS_ASSIGN_OR_RETURN(
      CheckpointIndex index,
      LoadCheckpoint(fs, checkpoint, stepper.registry(), options));
  if (!HasObject(index, kGrid)) stepper.ForgetGrid();
  const ScopedFloatEnv float_env;
  LS_RETURN_IF_ERROR(stepper.RestoreRuntime());
  LS_RETURN_IF_ERROR(CheckRuntimeFingerprint(stepper.registry(), index, world));
  return index;
}

std::string WhyUnfit(const absl::Status& load) {
  const std::string text(load.message());
  return text.substr(0, text.find("\n  where: "));
}

}  // namespace lockstep
