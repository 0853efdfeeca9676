// What a rank's trace was asked for, so that what it lacks is not taken for
// something that the run did not do.
//
// What it is: steps and scope of each of its files, and which records of
// another trace it can answer. What it is not: what the run did: within what
// was asked for, a missing record is another way. Why so: one run traced a
// module, the other all, and what both have is still worth comparing.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_FILTER_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_FILTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/trace.pb.h"

namespace lockstep {

struct RecordView;

struct TraceFilter {
  int64_t first = 0;
  int64_t last = INT64_MAX;  // both included
  std::string scope = {};    // empty: all
  friend bool operator==(const TraceFilter&, const TraceFilter&) = default;
};

// Of one rank: of each file what it says of itself, up to where the next one
// begins.
class TraceCoverage {
 public:
  // A file of the launch that went on from `done` steps; ascending.
  void Add(int64_t done, const trace::Header& header);

  // The filter of the step's file; nothing if no file has it.
  const TraceFilter* At(int64_t step) const;
  // Whether a record of this trace has its like in what `other` was asked for.
  bool IsAnswered(const RecordView& record, const TraceCoverage& other) const;

  std::string Text() const;
  friend bool operator==(const TraceCoverage&, const TraceCoverage&) = default;

 private:
  std::vector<TraceFilter> files_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_FILTER_H_
