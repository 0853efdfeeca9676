// Whether a line of metrics.jsonl is one that a trainer wrote. Inside this
// folder only.
//
// What it is: a look at lines that differ, which alone are parsed. What it is
// not: a proof: whoever changes a number and its bits alike is not found. Why
// so: a line that was changed by hand says nothing of what the run did, and
// must not send anyone to look for a broken machine.
#ifndef LOCKSTEP_TOOLS_DIFF_LINE_CHECK_H_
#define LOCKSTEP_TOOLS_DIFF_LINE_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace lockstep {

// InputError for what is no JSON, as with bytes that are no UTF-8 or a number
// that no double holds, or has a number and other bits beside it.
absl::Status CheckMetricLine(std::string_view line, int64_t step,
                             const std::string& where);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DIFF_LINE_CHECK_H_
