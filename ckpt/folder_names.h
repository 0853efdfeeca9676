// Names that folders carry while they are not (or no longer) checkpoints.
//
// All begin with a dot, so that no search for step_* finds them:
//   .tmp-step_00000100-G      being written under generation G of the lock
//   .old-step_00000100-G      set aside while its replacement moves in
//   .del-step_00000100-G      being deleted
//   .foreign-step_00000100-G  another run's, found where ours had to go; kept
// Inside ckpt only.

#ifndef CKPT_FOLDER_NAMES_H_
#define CKPT_FOLDER_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr std::string_view kTempPrefix = ".tmp-";
inline constexpr std::string_view kOldPrefix = ".old-";
inline constexpr std::string_view kDeletedPrefix = ".del-";
inline constexpr std::string_view kForeignPrefix = ".foreign-";

// ".tmp-" + "step_00000100" + "-" + "3".
std::string SideName(std::string_view prefix, std::string_view checkpoint_name,
                     int64_t generation);

// "step_00000100" of such a name, or "".
std::string CheckpointOfSideName(std::string_view prefix,
                                 std::string_view side_name);

}  // namespace lockstep

#endif  // CKPT_FOLDER_NAMES_H_
