// A folder for runs that nobody keeps.
#ifndef LOCKSTEP_TOOLS_SCRATCH_FOLDER_H_
#define LOCKSTEP_TOOLS_SCRATCH_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace lockstep {

// Removed with it, unless the user named it.
class ScratchFolder {
 public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  // `named` empty: one below TMPDIR. InputError where it cannot be made, or has
  // one of `runs` already.
  absl::Status Make(const std::string& named,
                    const std::vector<std::string>& runs);
  std::string PathOf(const std::string& run) const;

 private:
  std::string dir_;
  bool temporary_ = false;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SCRATCH_FOLDER_H_
