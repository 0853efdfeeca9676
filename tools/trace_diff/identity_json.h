// An operation's identity as JSON has it. Inside this folder only.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_IDENTITY_JSON_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_IDENTITY_JSON_H_

#include <nlohmann/json.hpp>

#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

inline nlohmann::ordered_json IdentityJson(const OperationIdentity& identity) {
  return {
      {"step", identity.step},           {"attempt", identity.attempt},
      {"phase", identity.phase},         {"scope", identity.scope},
      {"operation", identity.operation}, {"occurrence", identity.occurrence},
      {"sample", identity.first_sample}};
}

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_IDENTITY_JSON_H_
