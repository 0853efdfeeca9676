#include "tools/compare/compare_arms.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// No loss is near it, and squares of what is below it are numbers.
constexpr double kMostNats = 1e9;

bool IsDecimal(const std::string& text) {
  return text.find_first_of("xXpP") == std::string::npos;
}

// "2.412,2.418": all numbers that a loss may be.
bool ParseNumbers(const std::string& text, std::vector<double>& values) {
  std::vector<double> parsed;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(text, ','))) {
    double value = 0;
    if (!IsDecimal(part) || !absl::SimpleAtod(part, &value) ||
        !(std::abs(value) < kMostNats)) {
      return false;
    }
    parsed.push_back(value);
  }
  values.insert(values.end(), parsed.begin(), parsed.end());
  return true;
}

// An argument that is a folder is a run, whatever its name looks like.
absl::Status ReadArm(FileSystem& fs, const char* option,
                     const std::vector<std::string>& arguments, int64_t threads,
                     CompareArm& arm) {
  for (const std::string& argument : arguments) {
    if (!fs.Exists(argument) && ParseNumbers(argument, arm.values)) continue;
    if (!fs.Exists(argument)) {
      return InputError("this is neither a run's folder nor numbers",
                        absl::StrCat(option, " ", argument),
                        "give folders of runs, or 2.412,2.418,2.409");
    }
    LS_ASSIGN_OR_RETURN(ComparedRun run,
                        ReadComparedRun(fs, argument, threads));
    if (!std::isfinite(run.evaluation.loss)) {
      return InputError("the run's final evaluation is no number", argument,
                        "leave it out, and say so: it diverged");
    }
    arm.names.push_back(argument);
    arm.values.push_back(run.evaluation.loss);
    arm.runs.push_back(std::move(run));
  }
  if (arm.values.empty()) {
    return InputError("an arm has no runs", option,
                      "give folders of runs, or 2.412,2.418,2.409");
  }
  arm.statistics = StatisticsOf(arm.values);
  return absl::OkStatus();
}

bool AllNumbers(const CompareArm& arm) { return arm.runs.empty(); }
bool AllRuns(const CompareArm& arm) {
  return arm.runs.size() == arm.values.size();
}

absl::Status Refuse(const std::vector<std::string>& mismatches) {
  return ManifestMismatch(
      absl::StrCat("these runs are no matched samples:\n    ",
                   absl::StrJoin(mismatches, "\n    ")),
      "--baseline, --candidate",
      "compare runs that differ in what is tried and in their seeds, or say "
      "why all the same: --allow-unmatched REASON");
}

// Of the runs, the largest: they were evaluated on the same samples.
void FindEvaluationError(CompareReport& report) {
  for (const CompareArm* arm : {&report.baseline, &report.candidate}) {
    for (const ComparedRun& run : arm->runs) {
      const auto& error = run.evaluation.standard_error;
      if (error && *error > report.evaluation_error.value_or(0)) {
        report.evaluation_error = error;
      }
    }
  }
}

}  // namespace

absl::Status ReadArms(FileSystem& fs, const CompareOptions& options,
                      CompareReport& report) {
  CompareArm& a = report.baseline;
  CompareArm& b = report.candidate;
  LS_RETURN_IF_ERROR(
      ReadArm(fs, "--baseline", options.baseline, options.threads, a));
  LS_RETURN_IF_ERROR(
      ReadArm(fs, "--candidate", options.candidate, options.threads, b));
  report.reason = options.allow_unmatched;
  if (AllNumbers(a) && AllNumbers(b)) {
    report.notes.push_back(
        "numbers carry no lineage: whether they are of matched runs was not "
        "checked");
    return absl::OkStatus();
  }
  if (AllRuns(a) && AllRuns(b)) {
    Matching matching = MatchRuns(a.runs, b.runs);
    report.mismatches = std::move(matching.mismatches);
    report.compared = std::move(matching.compared);
    if (report.compared.empty()) {
      report.notes.push_back(
          "the arms have one recipe and one code: what differs is seeds alone");
    }
  } else {
    report.mismatches = {"runs beside numbers: numbers carry no lineage"};
  }
  FindEvaluationError(report);
  return !report.mismatches.empty() && report.reason.empty()
             ? Refuse(report.mismatches)
             : absl::OkStatus();
}

absl::Status UseSpread(FileSystem& fs, const CompareOptions& options,
                       CompareReport& report) {
  if (options.spread.empty()) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const Spread spread, ReadSpread(fs, options.spread));
  const std::vector<double> losses = spread.Losses();
  const ArmStatistics known = StatisticsOf(losses);
  bool used = false;
  for (CompareArm* arm : {&report.baseline, &report.candidate}) {
    for (const ComparedRun& run : arm->runs) {
      if (run.manifest.tokenizer.hash != spread.tokenizer) {
        return InputError(
            "the spread was measured with another tokenizer, in other nats a "
            "token",
            absl::StrCat(options.spread, ", ", run.dir),
            "measure it with `lockstep seeds` on a proxy with the same one");
      }
    }
    if (arm->statistics.count != 1) continue;
    arm->statistics.variance = known.variance;
    arm->statistics.variance_dof = known.variance_dof;
    arm->statistics.from_spread = used = true;
  }
  if (!used) {
    report.notes.push_back(absl::StrCat(
        options.spread, " was not needed: each arm has a spread of its own"));
    return absl::OkStatus();
  }
  report.notes.push_back(absl::StrCat(
      "noise is that of ", spread.runs.size(), " seeds of ", spread.recipe,
      ", identity ", IdentityOf(spread.trajectory_text).substr(0, 16)));
  if (!report.baseline.runs.empty()) {
    const auto keys =
        KeysOtherThan(spread, report.baseline.runs.front().manifest);
    report.notes.push_back(
        keys.empty()
            ? "that is the baseline's own recipe"
            : absl::StrCat("a proxy: it differs from the baseline in ",
                           absl::StrJoin(keys, ", "),
                           "; that its spread carries over is assumed"));
  }
  return absl::OkStatus();
}

}  // namespace lockstep
