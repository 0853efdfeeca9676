// `lockstep verify RUN` and `lockstep verify RECIPE`, as functions of plain
// options.
//
// What it is: the two audits: of a run that there is, by doing parts of it
// again (audit.h); and of a recipe, by making a run twice, once without a stop
// and once with one. What it is not: parsing. Apart from verbs.h, as audits sit
// on top of what that names.
#ifndef LOCKSTEP_TOOLS_AUDIT_VERBS_H_
#define LOCKSTEP_TOOLS_AUDIT_VERBS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/verbs.h"

namespace lockstep {

struct VerifyOptions {
  std::string path = {};  // a run's folder, or a recipe
  // Of a run:
  int64_t segments = 1;              // to do again; at most all
  std::optional<int64_t> seed = {};  // which; absent: the clock decides
  // Of a recipe:
  std::vector<std::string> sets = {};
  std::string layout = {};   // of the resumed run; empty: the recipe's own
  int64_t steps = 8;         // at most so many of the recipe's
  std::string scratch = {};  // a folder for both runs; empty: a temporary one
  std::vector<std::string> allow = {};
  std::string reason = {};
  // Of the resumed half alone: for whoever must see the verb fail.
  std::vector<std::string> resumed_faults = {};
  int64_t threads = 0;
  bool json = false;
};

// A folder that is a run's is a run, everything else a recipe. Negative: a
// segment does not recur; the resumed run is another.
absl::StatusOr<Answer> VerifyVerb(const VerifyOptions& options);
absl::StatusOr<Answer> VerifyRunVerb(const VerifyOptions& options);
absl::StatusOr<Answer> VerifyRecipeVerb(const VerifyOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_AUDIT_VERBS_H_
