#include "tools/fork.h"

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "tools/recipe_values.h"

namespace lockstep {
namespace {

bool ShapesTheCurve(const std::string& key) {
  if (FollowsFromOthers(key)) return false;
  return absl::StartsWith(key, "schedule.") || key == "train.steps" ||
         key == "train.samples" || key == "train.tokens";
}

}  // namespace

absl::StatusOr<ForkSource> OpenForkSource(FileSystem& fs,
                                          const std::string& checkpoint) {
  if (!fs.Exists(checkpoint)) {
    return InputError("there is no such checkpoint to fork from", checkpoint,
                      "--fork takes a folder RUN/checkpoints/step_NNNNNNNN");
  }
  ForkSource source;
  LS_ASSIGN_OR_RETURN(
      source.checkpoint,
      FindCheckpoint(fs, "", {ResumeMode::kPath, checkpoint}, ""));
  LS_ASSIGN_OR_RETURN(source.manifest, ReadManifest(fs, source.checkpoint.dir));
  return source;
}

bool KeepsSchedule(const std::string& parent_text,
                   const std::string& fork_text) {
  return ChangedValues(parent_text, fork_text, ShapesTheCurve).empty();
}

}  // namespace lockstep
