#include "tools/window_notes.h"

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/launches.h"

namespace lockstep {
namespace {

// A window is done with one recipe, that of its first step.
absl::Status NoteLaterRecipe(FileSystem& fs, const std::string& run_dir,
                             const WindowOptions& options,
                             ReplayedWindow& window) {
  LS_ASSIGN_OR_RETURN(const auto launch, LaunchOfStep(fs, run_dir, options.to));
  if (!launch || launch->since < options.from) return absl::OkStatus();
  window.notes.push_back(
      absl::StrCat("steps ", launch->since + 1, " to ", options.to,
                   " were made with another recipe than step ", options.from,
                   ", with which they are done here; ask for them from step ",
                   launch->since + 1, " on"));
  return absl::OkStatus();
}

std::string LayoutText(const Manifest& manifest) {
  return absl::StrCat(manifest.layout.world,
                      " rank(s): data=", manifest.layout.data,
                      ", tensor=", manifest.layout.tensor,
                      ", pipeline=", manifest.layout.pipeline);
}

// And on one layout, its first step's; what acted on ranks of another does not
// come back there.
absl::Status NoteLaterLayout(FileSystem& fs, const std::string& run_dir,
                             const WindowOptions& options,
                             const Manifest& manifest, ReplayedWindow& window) {
  LS_ASSIGN_OR_RETURN(const auto later, NextLayout(fs, run_dir, manifest,
                                                   options.from, options.to));
  if (!later) return absl::OkStatus();
  window.other_layout_from = later->since + 1;
  window.notes.push_back(absl::StrCat(
      "steps from ", later->since + 1, " on were made on another layout (",
      LayoutText(later->manifest), ") than step ", options.from, " (",
      LayoutText(manifest), "), on which all are done here; ask for them from ",
      "step ", later->since + 1, " on"));
  return absl::OkStatus();
}

}  // namespace

absl::Status NoteLaterLaunches(FileSystem& fs, const std::string& run_dir,
                               const WindowOptions& options,
                               const Manifest& manifest,
                               ReplayedWindow& window) {
  LS_RETURN_IF_ERROR(NoteLaterRecipe(fs, run_dir, options, window));
  return NoteLaterLayout(fs, run_dir, options, manifest, window);
}

}  // namespace lockstep
