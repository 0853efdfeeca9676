#include "tools/trace_diff/tolerance.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/trace_diff/trace_folder.h"

namespace lockstep {
namespace {

// As far as the first operations tell: some micro-batches of them.
double CoarsestOf(const OperationList& list) {
  constexpr size_t kFirstOperations = 4096;
  double coarsest = 0;
  for (size_t i = 0; i < std::min(kFirstOperations, list.size()); ++i) {
    for (const TracedTensor& tensor : list.At(i).outputs) {
      coarsest = std::max(coarsest, EpsilonOf(tensor.dtype));
    }
  }
  return coarsest;
}

// The operations of one rank, in the order of the first trace.
class Walk {
 public:
  Walk(int rank, ToleranceReport& report) : rank_(rank), report_(report) {}

  void Pass(const TracedOperation& a, const TracedOperation& b) {
    ++report_.compared;
    double units_in = before_;
    if (!a.inputs.empty() && a.inputs.size() == b.inputs.size()) {
      units_in = Largest(a.inputs, b.inputs).first;
    }
    units_in = std::max(units_in, 1.0);
    if (a.outputs.size() != b.outputs.size()) return;
    const auto [units_out, tensor] = Largest(a.outputs, b.outputs);
    before_ = std::max(before_, units_out);
    const GrowthPoint point = {.rank = rank_,
                               .identity = a.identity,
                               .tensor = tensor,
                               .units_in = units_in,
                               .units_out = units_out};
    if (point.growth() >= report_.growth) report_.points.push_back(point);
    if (point.growth() > report_.worst.growth() || report_.compared == 1) {
      report_.worst = point;
    }
  }

 private:
  // Of the pairs the most distant, and whose it is.
  std::pair<double, std::string> Largest(const std::vector<TracedTensor>& a,
                                         const std::vector<TracedTensor>& b) {
    std::pair<double, std::string> largest;
    for (size_t i = 0; i < a.size(); ++i) {
      const auto distance = RelativeDistance(a[i], b[i]);
      report_.without_values += !distance.has_value();
      const double units = distance.value_or(0) / report_.epsilon;
      if (units > largest.first || i == 0) largest = {units, a[i].name};
    }
    return largest;
  }

  const int rank_;
  ToleranceReport& report_;
  double before_ = 0;
};

}  // namespace

void CompareWithin(int rank, const OperationList& a, const OperationList& b,
                   ToleranceReport& report) {
  report.epsilon = std::max({report.epsilon, CoarsestOf(a), CoarsestOf(b)});
  Walk walk(rank, report);
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
  LS_ASSIGN_OR_RETURN(TraceFolder folder_a, OpenTraceFolder(fs, a));
  LS_ASSIGN_OR_RETURN(TraceFolder folder_b, OpenTraceFolder(fs, b));
  ToleranceReport report = {.growth = growth};
  for (const auto& [rank, files] : folder_a.files) {
    if (!folder_b.files.contains(rank)) {
      return InputError(absl::StrCat("only one of the traces has rank ", rank),
                        absl::StrCat(a, ", ", b),
                        "trace both runs on one layout");
    }
    LS_ASSIGN_OR_RETURN(const OperationList list_a,
                        OperationsOf(fs, folder_a, rank));
    LS_ASSIGN_OR_RETURN(const OperationList list_b,
                        OperationsOf(fs, folder_b, rank));
    CompareWithin(rank, list_a, list_b, report);
  }
  if (report.compared > 0 && report.without_values == 0) return report;
  return InputError(report.compared == 0
                        ? "the traces have no operation in common"
                        : "there are tensors without values in these traces",
                    absl::StrCat(a, ", ", b),
                    "trace both with --set trace.level=operation --set "
                    "trace.values=sample");
}

}  // namespace lockstep
