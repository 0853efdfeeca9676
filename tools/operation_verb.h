// `lockstep doctor --operation FILE`, as a function of plain options.
#ifndef LOCKSTEP_TOOLS_OPERATION_VERB_H_
#define LOCKSTEP_TOOLS_OPERATION_VERB_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/verbs.h"

namespace lockstep {

struct OperationVerbOptions {
  std::string file;  // that bisect saved
  int64_t threads = 0;
  bool json = false;  // see doctor/operation_check.h
};
// Negative: it does not repeat, or neither run left what it came to.
absl::StatusOr<Answer> OperationVerb(const OperationVerbOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_OPERATION_VERB_H_
