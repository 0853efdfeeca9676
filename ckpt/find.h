// Which checkpoint a run starts from: the newest that verifies.
//
// Walks back from the highest step, reading every byte, and says of each folder
// it passes over why. Never writes. One rank decides and tells the others. Not
// the load: whether the state fits is found there, and whoever finds that one
// does not asks again for the next (`unfit`).

#ifndef CKPT_FIND_H_
#define CKPT_FIND_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

enum class ResumeMode : uint8_t {
  kAuto,   // the newest good one; a fresh start only if there are none at all
  kMust,   // the newest good one, or an error
  kNever,  // a fresh start
  kPath,   // this one, or an error
};

struct ResumeRequest {
  ResumeMode mode = ResumeMode::kAuto;
  std::string path;  // of a checkpoint's folder, for kPath
  // kAuto and kMust: those beyond are not looked at, as if they were not there.
  int64_t at_most_step = std::numeric_limits<int64_t>::max();
  // kAuto and kMust: those that were tried and why they cannot be loaded,
  // though every byte holds; by FoundCheckpoint's dir.
  std::map<std::string, std::string> unfit = {};
};

// "auto", "must", "never" or a path.
ResumeRequest ParseResume(std::string_view text);

struct FoundCheckpoint {
  bool fresh = false;  // start at step 0
  std::string dir;
  int64_t step = 0;
  std::string run_id;
  std::string index_sha256;
  std::string ledger_head;         // of the run when it was saved
  std::vector<std::string> notes;  // what was passed over and why; shout them
};

// `run_id` empty: any run's (no manifest yet, or --fork). Folders of another
// run never count. NoUsableCheckpoint: some exist and none verifies, kMust and
// there are none, or the one of kPath is damaged. InputError: kPath names no
// checkpoint, or another run's.
absl::StatusOr<FoundCheckpoint> FindCheckpoint(FileSystem& file_system,
                                               const std::string& run_dir,
                                               const ResumeRequest& request,
                                               const std::string& run_id);

}  // namespace lockstep

#endif  // CKPT_FIND_H_
