#include "tools/fork.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

bool ShapesTheCurve(const std::string& key) {
  if (key == "schedule.length_samples") return false;  // follows from the rest
  return absl::StartsWith(key, "schedule.") || key == "train.steps" ||
         key == "train.samples" || key == "train.tokens";
}

std::map<std::string, std::string> CurveOf(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const auto line : absl::StrSplit(text, '\n')) {
    const std::pair<std::string, std::string> entry =
        absl::StrSplit(line, absl::MaxSplits(" = ", 1));
    if (ShapesTheCurve(entry.first)) values.insert(entry);
  }
  return values;
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
  return CurveOf(parent_text) == CurveOf(fork_text);
}

}  // namespace lockstep
