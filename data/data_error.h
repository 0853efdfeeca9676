// What the file system says about a user's data, as the user's to mend.
//
// The seam reports a short or missing file with codes that elsewhere mean "no
// usable checkpoint" or "internal"; met in data they are all exit code 2.

#ifndef DATA_DATA_ERROR_H_
#define DATA_DATA_ERROR_H_

#include "absl/status/status.h"

namespace lockstep {

// The message already says what, where and what to do.
inline absl::Status AsInputError(const absl::Status& status) {
  return status.ok() ? status : absl::InvalidArgumentError(status.message());
}

}  // namespace lockstep

#endif  // DATA_DATA_ERROR_H_
