#include "tools/compare/compare_verb.h"

#include <cmath>

#include "determinism/status.h"
#include "tools/compare/compare_arms.h"

namespace lockstep {
namespace {

// Why an arm's noise is not known, and what the verdict therefore rests on.
void NoteNoise(CompareReport& report) {
  for (const CompareArm* arm : {&report.baseline, &report.candidate}) {
    if (arm->statistics.count == 1 && !arm->statistics.from_spread) {
      report.notes.push_back(
          "one run an arm says nothing about noise: give --spread FILE, as "
          "`lockstep seeds` measures it on a proxy, or more runs");
      return;
    }
  }
  if (!report.result.tested) {
    report.notes.push_back(
        "the numbers of each arm are equal to the bit, as those of one run "
        "counted twice are: their noise is not known");
  }
  if (report.result.borderline) {
    report.notes.push_back(
        "borderline: one comparison in a hundred of equal arms looks like "
        "this, or more so; add seeds before acting on it");
  }
  if (report.evaluation_error && *report.evaluation_error > report.min_effect) {
    report.notes.push_back(
        "the evaluation set is small for this effect: its own sampling error "
        "is larger than --min-effect; the arms share it, so it is not in the "
        "interval, and another set may say otherwise");
  }
}

}  // namespace

absl::StatusOr<Answer> CompareVerb(const CompareOptions& options) {
  if (!(options.min_effect >= 0) || !std::isfinite(options.min_effect)) {
    return InputError("the least effect is a number of nats, 0 or more",
                      "--min-effect", "give one such as 0.003");
  }
  CompareReport report;
  report.min_effect = options.min_effect;
  FileSystem& fs = *PosixFileSystem();
  LS_RETURN_IF_ERROR(ReadArms(fs, options, report));
  LS_RETURN_IF_ERROR(UseSpread(fs, options, report));
  report.result = WelchTest(report.baseline.statistics,
                            report.candidate.statistics, options.min_effect);
  NoteNoise(report);
  const CompareVerdict verdict = report.result.verdict;
  return Answer{options.json ? CompareJson(report) : CompareText(report),
                verdict == CompareVerdict::kRegressed ||
                    verdict == CompareVerdict::kInconclusive};
}

}  // namespace lockstep
