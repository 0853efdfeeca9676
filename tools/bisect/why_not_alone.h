// Why a saved operation cannot be done again from what it shows.
#ifndef LOCKSTEP_TOOLS_BISECT_WHY_NOT_ALONE_H_
#define LOCKSTEP_TOOLS_BISECT_WHY_NOT_ALONE_H_

#include <string>

#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

// For a person; empty for one of a layer's pass, which can.
std::string WhyNotAlone(const OperationIdentity& identity);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_WHY_NOT_ALONE_H_
