// What a guarantee costs: steps of three configurations in turns.
//
// What it is: the same recipe on the rungs `bitwise` and `layout_invariant`,
// each against the fastest configuration there is, step by step in one process
// and in turns, so that whatever disturbs the machine meets all three; by parts
// of the step, with intervals. What it is not: a comparison with somebody
// else's code, or a rate (tools/bench). Why so: the price of a promise is a
// ratio of two times, and two times of different minutes have none.
//
// The fastest configuration is the rung `statistical` without fingerprints:
// sums over ranks in whatever order is quickest, nothing cut for a grid. Its
// kernels are those of the other rungs, which have no faster ones; on one rank
// `bitwise` therefore costs what its fingerprints cost.
#ifndef LOCKSTEP_TOOLS_TAX_TAX_H_
#define LOCKSTEP_TOOLS_TAX_TAX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/tax/tax_numbers.h"

namespace lockstep {

struct TaxOptions {
  std::string recipe = {};
  std::vector<std::string> sets = {};
  int64_t ranks = 1;  // as threads of this process
  int64_t threads = 0;
  int64_t rounds = 31;       // pairs of steps
  std::string scratch = {};  // an existing folder; empty: the system's
};

// Of one part of a step.
struct TaxPart {
  std::string name = {};
  double fast_seconds = 0;  // median, mean over ranks
  double share = 0;         // of the fast step
  TaxInterval bitwise = {}, layout_invariant = {};
};

struct TaxReport {
  int64_t ranks = 1;
  int threads = 1;  // of a rank
  int64_t pairs = 0;
  int64_t samples = 0;  // of a step
  std::vector<TaxPart> parts = {};
  // Of a rank's device at most: fast, bitwise, layout_invariant.
  std::vector<int64_t> peak_bytes = {};
};

// On text of its own in place of the recipe's.
absl::StatusOr<TaxReport> MeasureTax(const TaxOptions& options);

// One line, as fractions: {"parts": [{"name", "bitwise", "bitwise_low",
// "bitwise_high", "layout_invariant", ...}], ...}.
std::string TaxJson(const TaxReport& report);
// For a person, in per cent.
std::string TaxTable(const TaxReport& report);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TAX_TAX_H_
