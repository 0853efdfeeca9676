// What later launches changed within a window of steps that is done again.
//
// What it is: notes for people, and where another layout began. What it is not:
// what was passed over before the window (replay_source.h). Why so: a window is
// done with one recipe on one layout, that of its first step.
#ifndef LOCKSTEP_TOOLS_WINDOW_NOTES_H_
#define LOCKSTEP_TOOLS_WINDOW_NOTES_H_

#include <string>

#include "absl/status/status.h"
#include "ckpt/manifest.h"
#include "determinism/file_system.h"
#include "tools/replay_window.h"

namespace lockstep {

// `manifest`: of the window's first step.
absl::Status NoteLaterLaunches(FileSystem& fs, const std::string& run_dir,
                               const WindowOptions& options,
                               const Manifest& manifest,
                               ReplayedWindow& window);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_WINDOW_NOTES_H_
