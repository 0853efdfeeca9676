#include "tools/trace_diff/capture_end.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace lockstep {

std::string ToString(const CaptureEnd& end) {
  if (end.step == 0) return "has no step";
  return absl::StrCat("ends ", end.in_step ? "in the midst of" : "with",
                      " step ", end.step);
}

// Records of a launch or a checkpoint stand around a step's, and say nothing of
// how far it went.
CaptureEnd LastOf(const OperationList& list) {
  CaptureEnd last;
  for (size_t i = list.size(); i-- > 0;) {
    if (list.OfLaunch(i)) continue;
    if (last.step != 0 && list.StepOf(i) != last.step) break;
    last = {.step = list.StepOf(i), .in_step = !list.EndsStep(i)};
    if (!last.in_step) break;
  }
  return last;
}

Beyond::Beyond(const OperationList& list, const OperationList& other)
    : list_(list) {
  const CaptureEnd last = LastOf(other);
  step_ = last.step;
  in_step_ = last.in_step;
  if (!in_step_) return;
  // Where nothing of the step is alike, all of it counts as missing.
  place_ = list.size();
  for (size_t j = other.size(); j-- > 0 && other.StepOf(j) == step_;) {
    if (other.OfLaunch(j)) continue;
    if (const auto found = list.Find(other, j)) {
      place_ = *found;
      return;
    }
  }
}

std::optional<CaptureEnd> Beyond::End() const {
  CaptureEnd end = {.step = step_, .in_step = in_step_};
  for (size_t i = 0; i < list_.size(); ++i) {
    end.beyond += !list_.OfLaunch(i) && (*this)(i);
  }
  return end.beyond > 0 ? std::optional(end) : std::nullopt;
}

std::optional<CaptureEnd> Earlier(const std::optional<CaptureEnd>& x,
                                  const std::optional<CaptureEnd>& y) {
  if (!x || !y) return x ? x : y;
  CaptureEnd first =
      std::tuple(x->step, !x->in_step) <= std::tuple(y->step, !y->in_step) ? *x
                                                                           : *y;
  first.beyond = x->beyond + y->beyond;
  return first;
}

}  // namespace lockstep
