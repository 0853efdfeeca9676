// Whether a fix is one: two runs that part, and two that were made with it.
//
// What it is: the old pair still parts, the new pair does not, over at least
// the step where the old one did; whether the new runs still do the guilty
// operation or go round it; and what a step costs now. What it is not: a proof
// that the fault is gone: two runs are two. Why so: a fix that avoids a path is
// worth less than one that mends it, and a fix that costs a third of the speed
// is a decision and not a repair.
//
// Verdicts:
//   fixed               the new pair is equal and still does the operation
//   routed_around       it is equal and does not do it
//   equal               it is equal, and no operation was named in the old pair
//   not_fixed           the new pair parts
//   old_pair_is_equal   there is nothing to fix
//   not_enough          the new pair has not come to the step in question
//
// JSON, fields are only ever added: verdict, good, new_step (first that
// differs), new_steps (compared), executed (the operation: true, false, null),
// same_program (the new runs' program is the old ones'), old_step_ms,
// new_step_ms (medians), old_step_ms_range, new_step_ms_range ([least, most]),
// steps_timed (of the pair that has fewer), cost (their ratio less 1, null:
// unknown), cost_shown (the ranges do not touch), notes.
#ifndef LOCKSTEP_TOOLS_BISECT_FIX_CHECK_H_
#define LOCKSTEP_TOOLS_BISECT_FIX_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/bisect/bisect.h"

namespace lockstep {

struct FixOptions {
  std::string c, d;         // the new runs
  std::string binary = {};  // that made them; empty: this one
  std::string scratch = {};
  int64_t threads = 0;
};

// Of all steps of both runs but a launch's first; no steps: none on record.
struct StepTimes {
  double median_ms = 0, least_ms = 0, most_ms = 0;
  int64_t steps = 0;
};

struct FixCheck {
  std::string c = {}, d = {};
  std::string verdict = {};
  int64_t new_step = 0;   // 0: none differs
  int64_t new_steps = 0;  // that both have
  std::optional<bool> executed = {};
  bool same_program = false;
  StepTimes old_times = {}, new_times = {};
  std::vector<std::string> notes = {};

  bool good() const {
    return verdict == "fixed" || verdict == "routed_around" ||
           verdict == "equal";
  }
  std::optional<double> cost() const;
  // Whether each step of one pair took longer than each of the other; else
  // what else the machine did may be all of the cost.
  bool cost_shown() const;
};

// `old_pair`: what Bisect found of it.
absl::StatusOr<FixCheck> CheckFix(FileSystem& fs, const FixOptions& options,
                                  const BisectResult& old_pair);

std::string FixText(const FixCheck& check);
// An object, without a newline.
std::string FixJson(const FixCheck& check);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_FIX_CHECK_H_
