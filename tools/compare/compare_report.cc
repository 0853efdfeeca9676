// The answer of a comparison, as JSON and in words.
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/compare/compare_verb.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(bool known, double value) { return known ? Json(value) : Json(); }

Json ArmJson(const CompareArm& arm) {
  const ArmStatistics& s = arm.statistics;
  Json json;
  json["runs"] = arm.names;
  json["values"] = arm.values;
  json["mean"] = s.mean;
  json["sd"] = OrNull(s.variance_dof > 0, std::sqrt(s.variance));
  json["sd_from"] = s.variance_dof == 0 ? "unknown"
                    : s.from_spread     ? "spread"
                                        : "runs";
  Json evaluated_now = Json::array();
  for (const ComparedRun& run : arm.runs) {
    if (run.evaluation.evaluated_now) evaluated_now.push_back(run.dir);
  }
  json["evaluated_now"] = evaluated_now;
  return json;
}

std::string ArmText(const char* name, const CompareArm& arm) {
  const ArmStatistics& s = arm.statistics;
  std::string text =
      absl::StrFormat("%-10s %2d x  mean %.6f", name, s.count, s.mean);
  if (s.variance_dof > 0) {
    absl::StrAppendFormat(&text, "  sd %.6f%s", std::sqrt(s.variance),
                          s.from_spread ? " (of the spread)" : "");
  }
  text += "\n";
  for (const ComparedRun& run : arm.runs) {
    absl::StrAppendFormat(
        &text, "  %s  step %d  held-out loss %.6f over %d samples%s\n", run.dir,
        run.evaluation.step, run.evaluation.loss, run.evaluation.samples,
        run.evaluation.evaluated_now ? " (evaluated now)" : "");
  }
  return text;
}

std::string TestText(const WelchResult& r) {
  if (!r.tested) return "";
  return absl::StrFormat(
      "t %.3f with %.2f degrees of freedom, p %.4f, 95 %% interval "
      "[%+.6f, %+.6f]\n",
      r.t, r.dof, r.p, r.low, r.high);
}

std::string SeedsText(const CompareReport& report) {
  const WelchResult& r = report.result;
  if (r.verdict != CompareVerdict::kInconclusive || !r.tested) return "";
  if (!r.seeds_needed) {
    return "no number of seeds settles it: the difference is too near the "
           "least effect itself\n";
  }
  if (r.planned_seeds == r.seeds_needed) {
    return absl::StrFormat(
        "%d seeds an arm would settle it: then a difference of %g is found in "
        "90 %% of cases, and none is shown to be none in 80 %%\n",
        *r.seeds_needed, report.min_effect);
  }
  return absl::StrFormat(
      "%d seeds an arm would settle it in 80 %% of cases, if the difference is "
      "the one observed\n",
      *r.seeds_needed);
}

void AppendLines(const char* title, const std::vector<std::string>& lines,
                 std::string& text) {
  if (lines.empty()) return;
  absl::StrAppend(&text, title, "\n");
  for (const std::string& line : lines)
    absl::StrAppend(&text, "  ", line, "\n");
}

}  // namespace

std::string CompareJson(const CompareReport& report) {
  const WelchResult& r = report.result;
  Json json;
  json["verdict"] = NameOf(r.verdict);
  json["delta"] = r.delta;
  json["t"] = OrNull(r.tested, r.t);
  json["dof"] = OrNull(r.tested, r.dof);
  json["p"] = OrNull(r.tested, r.p);
  json["interval"] = r.tested ? Json{r.low, r.high} : Json();
  json["seeds_needed"] = r.seeds_needed ? Json(*r.seeds_needed) : Json();
  json["seeds_planned"] = r.planned_seeds ? Json(*r.planned_seeds) : Json();
  json["min_effect"] = report.min_effect;
  json["borderline"] = r.borderline;
  json["baseline"] = ArmJson(report.baseline);
  json["candidate"] = ArmJson(report.candidate);
  json["evaluation_standard_error"] = OrNull(
      report.evaluation_error.has_value(), report.evaluation_error.value_or(0));
  json["compared"] = report.compared;
  json["unmatched"] = report.mismatches;
  json["unmatched_reason"] = report.reason.empty() || report.mismatches.empty()
                                 ? Json()
                                 : Json(report.reason);
  json["notes"] = report.notes;
  return json.dump() + "\n";
}

std::string CompareText(const CompareReport& report) {
  const WelchResult& r = report.result;
  std::string text =
      absl::StrFormat("%s: baseline - candidate = %+.6f, least effect %g\n",
                      NameOf(r.verdict), r.delta, report.min_effect);
  absl::StrAppend(&text, TestText(r), SeedsText(report),
                  ArmText("baseline", report.baseline),
                  ArmText("candidate", report.candidate));
  if (report.evaluation_error) {
    absl::StrAppendFormat(
        &text,
        "evaluation noise, apart from that of seeds: a loss has the standard "
        "error %.6f over the samples it is a mean of\n",
        *report.evaluation_error);
  }
  AppendLines("compared:", report.compared, text);
  AppendLines(("UNMATCHED, compared all the same: " + report.reason).c_str(),
              report.mismatches, text);
  AppendLines("notes:", report.notes, text);
  return text;
}

}  // namespace lockstep
