// `lockstep diff`, as verbs.h has the other verbs.
#ifndef LOCKSTEP_TOOLS_DIFF_DIFF_VERB_H_
#define LOCKSTEP_TOOLS_DIFF_DIFF_VERB_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/verbs.h"

namespace lockstep {

struct DiffOptions {
  std::string run_a;
  std::string run_b;
  bool json = false;
};
// Negative: the runs differ (run_diff.h).
absl::StatusOr<Answer> DiffVerb(const DiffOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DIFF_DIFF_VERB_H_
