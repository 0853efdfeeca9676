#include "tools/trace_diff/tolerance.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/trace_diff/loss_scales.h"
#include "tools/trace_diff/step_shape.h"
#include "tools/trace_diff/trace_diff.h"
#include "tools/trace_diff/trace_pair.h"

namespace lockstep {
namespace {

double CoarsestOf(const std::vector<TracedTensor>& tensors) {
  double coarsest = 0;
  for (const TracedTensor& tensor : tensors) {
    coarsest = std::max(coarsest, EpsilonOf(tensor.dtype));
  }
  return coarsest;
}

// What an operation computes with: its widest numbers carry no more than its
// coarsest have.
double EpsilonOf(const TracedOperation& a, const TracedOperation& b) {
  return std::max({CoarsestOf(a.inputs), CoarsestOf(a.outputs),
                   CoarsestOf(b.inputs), CoarsestOf(b.outputs)});
}

// As far as the first operations tell: some micro-batches of them.
double CoarsestOf(const OperationList& list) {
  constexpr size_t kFirstOperations = 4096;
  double coarsest = 0;
  for (size_t i = 0; i < std::min(kFirstOperations, list.size()); ++i) {
    coarsest = std::max(coarsest, CoarsestOf(list.At(i).outputs));
  }
  return coarsest;
}

// Integers are in units of their own, as sums on the grid of layout_invariant
// are, and what is cut otherwise has other elements.
bool AreOneKind(const TracedTensor& a, const TracedTensor& b) {
  const auto is_integer = [](const TracedTensor& tensor) {
    return tensor.dtype.starts_with('I') || tensor.dtype.starts_with('U');
  };
  return is_integer(a) == is_integer(b) && a.shape == b.shape;
}

void NoteScales(const LossScales& scales, ToleranceReport& report) {
  if (!scales.empty()) {
    report.notes.push_back(absl::StrCat(
        "the losses are scaled otherwise (A's gradients are ", scales.Text(),
        " times B's in backward): compared without that"));
  }
  if (report.left_out > 0) {
    report.notes.push_back(absl::StrCat(
        report.left_out,
        " tensors are left out: of another shape, or integers in one trace "
        "alone (sums on the grid of layout_invariant); the gradients of phase "
        "reduction, made from them, are compared"));
  }
}

// The operations of one rank, in the order of the first trace.
class Walk {
 public:
  Walk(int rank, const LossScales& scales, ToleranceReport& report)
      : rank_(rank), scales_(scales), report_(report) {}

  void Pass(const TracedOperation& a, const TracedOperation& b) {
    ++report_.compared;
    double in = before_;
    if (!a.inputs.empty() && a.inputs.size() == b.inputs.size()) {
      in = Largest(a, a.inputs, b.inputs).value_or(Furthest{before_, ""}).apart;
    }
    if (a.outputs.size() != b.outputs.size()) return;
    const auto furthest = Largest(a, a.outputs, b.outputs);
    if (!furthest) return;
    const double out = furthest->apart;
    before_ = std::max(before_, out);
    const double epsilon = EpsilonOf(a, b);
    const GrowthPoint point = {.rank = rank_,
                               .identity = a.identity,
                               .tensor = furthest->tensor,
                               .epsilon = epsilon,
                               .units_in = std::max(in / epsilon, 1.0),
                               .units_out = out / epsilon};
    if (point.growth() >= report_.growth) report_.points.push_back(point);
    if (point.growth() > report_.worst.growth() || report_.compared == 1) {
      report_.worst = point;
    }
  }

 private:
  struct Furthest {
    double apart = 0;
    std::string tensor = {};
  };

  // Of the pairs that can be held against each other the most distant, relative
  // to its largest, and whose it is.
  std::optional<Furthest> Largest(const TracedOperation& operation,
                                  const std::vector<TracedTensor>& a,
                                  const std::vector<TracedTensor>& b) {
    std::optional<Furthest> largest;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!AreOneKind(a[i], b[i])) {
        ++report_.left_out;
        continue;
      }
      const auto distance = RelativeDistance(
          a[i], b[i], scales_.Between(operation.identity, a[i], b[i]));
      report_.without_values += !distance.has_value();
      const double apart = distance.value_or(0);
      if (!largest || apart > largest->apart) largest = {apart, a[i].name};
    }
    return largest;
  }

  const int rank_;
  const LossScales& scales_;
  ToleranceReport& report_;
  double before_ = 0;
};

}  // namespace

void CompareWithin(int rank, const OperationList& a, const OperationList& b,
                   ToleranceReport& report, const LossScales& scales) {
  report.epsilon = std::max({report.epsilon, CoarsestOf(a), CoarsestOf(b)});
  Walk walk(rank, scales, report);
  int64_t matched = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto found = b.Find(a, i);
    if (!found) {
      ++report.unmatched;
      continue;
    }
    ++matched;
    const TracedOperation one = a.At(i);
    // Of a phase or a step there are no values.
    if (one.identity.operation.starts_with('(')) continue;
    walk.Pass(one, b.At(*found));
  }
  report.unmatched += static_cast<int64_t>(b.size()) - matched;
}

absl::StatusOr<ToleranceReport> CompareTracesWithin(FileSystem& fs,
                                                    const std::string& a,
                                                    const std::string& b,
                                                    double growth) {
  LS_ASSIGN_OR_RETURN(const TracePair pair, ReadTracePair(fs, a, b));
  LS_RETURN_IF_ERROR(CheckSameCut(pair, absl::StrCat(a, ", ", b), true));
  if (!SameLayout(pair.a, pair.b)) {
    return InputError("the traces are of two layouts", absl::StrCat(a, ", ", b),
                      "trace both runs on one layout; without --tolerance two "
                      "layouts can be compared");
  }
  ToleranceReport report = {.growth = growth, .notes = pair.notes};
  const LossScales scales = LossScales::Of(pair);
  for (const auto& [rank, list] : pair.a) {
    CompareWithin(rank, list, pair.b.at(rank), report, scales);
  }
  NoteScales(scales, report);
  if (report.compared > 0 && report.without_values == 0) return report;
  return InputError(report.compared == 0
                        ? "the traces have no operation in common"
                        : "there are tensors without values in these traces",
                    absl::StrCat(a, ", ", b),
                    "trace both with --set trace.level=operation --set "
                    "trace.values=sample");
}

}  // namespace lockstep
