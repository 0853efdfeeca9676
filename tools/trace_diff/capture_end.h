// Where a trace ends before the other does.
//
// What it is: how far a rank's records go, and which of another trace's lie
// beyond that. What it is not: a filter that was asked for (trace_filter.h).
// Why so: a run that was stopped, killed in the midst of a step, or is still at
// work has done nothing else than the other as far as it went, and what the
// other did behind that is no other way.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_CAPTURE_END_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_CAPTURE_END_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/trace_diff/operation_list.h"

namespace lockstep {

struct CaptureEnd {
  int64_t step = 0;  // the last one with a record
  bool in_step =
      false;           // which has no end: the run was killed or stopped in it
  int64_t beyond = 0;  // operations of the other that lie behind it
  friend bool operator==(const CaptureEnd&, const CaptureEnd&) = default;
};

// "ends with step 6", "ends in the midst of step 7".
std::string ToString(const CaptureEnd& end);

// Which operations of `list` lie behind the end of `other`, both of one rank.
class Beyond {
 public:
  Beyond(const OperationList& list, const OperationList& other);

  bool operator()(size_t place) const {
    const int64_t step = list_.StepOf(place);
    return step > step_ || (step == step_ && in_step_ && place > place_);
  }
  // Nothing where the other goes as far.
  std::optional<CaptureEnd> End() const;

 private:
  const OperationList& list_;
  int64_t step_ = 0;
  bool in_step_ = false;
  size_t place_ = 0;  // in `list`, of the last record of that step
};

// How far a rank's trace goes.
CaptureEnd LastOf(const OperationList& list);

// Of a run: the earliest of its ranks' ends.
std::optional<CaptureEnd> Earlier(const std::optional<CaptureEnd>& x,
                                  const std::optional<CaptureEnd>& y);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_CAPTURE_END_H_
