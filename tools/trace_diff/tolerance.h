// `trace diff --tolerance`: two traces that are not to be equal, as of other
// kernels or another precision.
//
// What it is: how far each pair of tensors is apart, in units of the epsilon of
// the coarsest type that the operation has in either trace, times the largest
// element, and the operations over which that grows by orders of magnitude.
// What it is not: a search for the first difference, which is everywhere, or a
// bound on errors. Why so: rounding differences wander; an operation that is
// given close numbers and leaves distant ones is where to look.
//
// Needs values in both traces (`trace.values`): with `statistics` the distance
// is that of rms and absmax, with `sample` that of the sampled elements as
// well, with `bytes` that of all. An operation without inputs in the trace is
// held against the largest distance before it. Gradients of losses that were
// scaled otherwise (fp16) are compared without that scale (loss_scales.h);
// tensors of another shape, and integers against none, as of sums on the grid
// of layout_invariant, are left out, and counted.
//
// JSON, fields are only ever added: mode ("tolerance"), verdict (close |
// grows), epsilon, growth (the least that is told), compared, unmatched,
// without_values, left_out (tensors), worst and points [{rank, step, attempt,
// phase, scope, operation, occurrence, sample, tensor, epsilon, units_in,
// units_out, growth}]; points in the order of the step, worst has the largest
// growth; notes.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TOLERANCE_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TOLERANCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/trace_diff/loss_scales.h"
#include "tools/trace_diff/operation_list.h"

namespace lockstep {

struct GrowthPoint {
  int rank = 0;
  OperationIdentity identity = {};
  std::string tensor = {};  // the output
  double epsilon = 0;       // of the operation's coarsest type
  double units_in = 0;      // of the inputs, or before; at least 1
  double units_out = 0;
  double growth() const { return units_out / units_in; }
};

struct ToleranceReport {
  double growth = 0;
  double epsilon = 0;          // of the coarsest type of all
  int64_t compared = 0;        // operations
  int64_t unmatched = 0;       // that one of them lacks
  int64_t without_values = 0;  // tensors
  int64_t left_out = 0;        // tensors of another kind in either trace
  GrowthPoint worst = {};
  std::vector<GrowthPoint> points = {};
  std::vector<std::string> notes = {};  // torn ends, and what is left out

  bool grows() const { return !points.empty(); }
};

inline constexpr double kGrowth = 100;

// Of a float type; that of F32 for any other, which stands for sums in it.
double EpsilonOf(const std::string& dtype);

// Of the largest element; nothing without values. Infinity where one has
// elements that are not finite and the other has not as many.
// `scale`: what a's elements are multiples of b's by.
std::optional<double> RelativeDistance(const TracedTensor& a,
                                       const TracedTensor& b, double scale = 1);

// Adds a rank to the report.
void CompareWithin(int rank, const OperationList& a, const OperationList& b,
                   ToleranceReport& report, const LossScales& scales = {});

// InputError for traces without values, or of two layouts.
absl::StatusOr<ToleranceReport> CompareTracesWithin(FileSystem& fs,
                                                    const std::string& a,
                                                    const std::string& b,
                                                    double growth = kGrowth);

std::string ToleranceText(const ToleranceReport& report);
std::string ToleranceJson(const ToleranceReport& report);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TOLERANCE_H_
