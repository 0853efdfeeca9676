// The verbs `trace show`, `trace diff` and `replay`; verbs.h has the others.
#ifndef LOCKSTEP_TOOLS_TRACE_VERBS_H_
#define LOCKSTEP_TOOLS_TRACE_VERBS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/trace_diff/trace_show.h"
#include "tools/verbs.h"

namespace lockstep {

struct TraceShowOptions : AskedRecords {
  bool json = false;
};
absl::StatusOr<Answer> TraceShowVerb(const TraceShowOptions& options);
struct TraceDiffOptions {
  std::string a, b;  // folders of traces, or runs
  bool tolerance = false;
  double growth = 0;  // of tolerance; 0: its own
  bool json = false;  // see trace_diff/trace_diff.h, trace_diff/tolerance.h
};
// Negative: they part, or the difference grows.
absl::StatusOr<Answer> TraceDiffVerb(const TraceDiffOptions& options);
struct TraceVerbs {
  TraceShowOptions show;
  TraceDiffOptions diff;
};

struct ReplayVerbOptions {
  std::string run_dir = {};
  int64_t from = 0;  // inclusive, both
  int64_t to = 0;
  std::vector<std::string> sets = {};
  std::vector<std::string> skip_samples = {};  // "A-B", both inclusive
  std::vector<std::string> without = {};       // "SOURCE:DOCUMENT"
  std::string lr = {};                         // empty: the run's
  bool full = false;
  bool from_seed = false;
  bool swap_ranks = false;
  std::string trace = {};  // a new folder; empty: none
  std::string trace_level = "operation";
  std::string trace_scope = {};
  std::string trace_values = "none";
  int64_t threads = 0;
  bool json = false;  // see replay/judgement.h
};
struct BisectVerbOptions {
  std::string a = {}, b = {};                // runs
  std::string binary_a = {}, binary_b = {};  // that made them; empty: this one
  // Two runs made with a fix, and the program that made them.
  std::vector<std::string> verify_fix = {};
  std::string binary_fix = {};
  std::string scratch = {};
  std::string output = {};  // a folder; empty: bisects/A_B
  std::string html = {};    // the page; empty: OUTPUT/report.html
  int64_t threads = 0;
  bool json = false;  // see bisect/bisect.h
};
// Negative: a step differs; with verify_fix: it is no fix.
absl::StatusOr<Answer> BisectVerb(const BisectVerbOptions& options);
// Negative: the window does not recur, or only in value where bits were
// promised.
absl::StatusOr<Answer> ReplayVerb(const ReplayVerbOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_VERBS_H_
