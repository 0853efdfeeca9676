// The arms of a comparison, from what was typed. Inside compare only.
#ifndef LOCKSTEP_TOOLS_COMPARE_COMPARE_ARMS_H_
#define LOCKSTEP_TOOLS_COMPARE_COMPARE_ARMS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/compare/compare_verb.h"

namespace lockstep {

// Reads both arms and their match into `report`. InputError, ManifestMismatch.
absl::Status ReadArms(FileSystem& fs, const CompareOptions& options,
                      CompareReport& report);

// Gives an arm of one the variance of the spread, if there is one. InputError
// where the spread is in other units than the runs.
absl::Status UseSpread(FileSystem& fs, const CompareOptions& options,
                       CompareReport& report);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_COMPARE_ARMS_H_
