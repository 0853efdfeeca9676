// Which records of a trace `trace show` is asked for.
//
// What it is: the filter by step and module, and what to say where it leaves
// nothing. What it is not: the filter of a trace that is written
// (trace_writer.h), which has no names to offer. Why so: an empty answer looks
// like a trace without records.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_SHOW_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_SHOW_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "determinism/trace_writer.h"

namespace lockstep {

struct AskedRecords {
  std::string file = {};
  std::string scope = {};  // a module path: layers.3 takes layers.3.mixer, and
                           // not layers.30; empty: all
  int64_t step = 0;        // 0: all
};

bool IsAsked(const trace::Record& record, const AskedRecords& asked);

// InputError where the trace has records and none that is asked for; it names
// the steps that there are, or the modules that are nearest.
absl::Status CheckAsked(const Trace& trace, const AskedRecords& asked);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_SHOW_H_
