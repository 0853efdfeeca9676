// Text and JSON of `trace diff --tolerance`.
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/trace_diff/identity_json.h"
#include "tools/trace_diff/tolerance.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity.
Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json PointJson(const GrowthPoint& p) {
  Json json = {{"rank", p.rank}};
  json.update(IdentityJson(p.identity));
  json.update(Json{{"tensor", p.tensor},
                   {"epsilon", p.epsilon},
                   {"units_in", Number(p.units_in)},
                   {"units_out", Number(p.units_out)},
                   {"growth", Number(p.growth())}});
  return json;
}

std::string PointText(const GrowthPoint& p) {
  return absl::StrFormat("rank %d, %s, `%s`: %.3g to %.3g epsilon of %.3g\n",
                         p.rank, ToString(p.identity), p.tensor, p.units_in,
                         p.units_out, p.epsilon);
}

}  // namespace

std::string ToleranceText(const ToleranceReport& report) {
  constexpr size_t kShown = 10;
  std::string text;
  if (report.grows()) {
    absl::StrAppend(&text, "grows\nhere the difference grows ", report.growth,
                    "-fold or more, in the order of the step:\n");
  } else {
    absl::StrAppend(&text, "close\nno operation lets the difference grow ",
                    report.growth, "-fold; the most does\n  ",
                    PointText(report.worst));
  }
  for (size_t i = 0; i < std::min(kShown, report.points.size()); ++i) {
    absl::StrAppend(&text, "  ", PointText(report.points[i]));
  }
  if (report.points.size() > kShown) {
    absl::StrAppend(&text, "  and ", report.points.size() - kShown, " more\n");
  }
  absl::StrAppend(&text, "the coarsest epsilon is ", report.epsilon, "; ",
                  report.compared, " operations compared, ", report.unmatched,
                  " in one only\n");
  for (const std::string& note : report.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  return text;
}

std::string ToleranceJson(const ToleranceReport& report) {
  Json points = Json::array();
  for (const GrowthPoint& point : report.points) {
    points.push_back(PointJson(point));
  }
  const Json json = {{"mode", "tolerance"},
                     {"verdict", report.grows() ? "grows" : "close"},
                     {"epsilon", report.epsilon},
                     {"growth", report.growth},
                     {"compared", report.compared},
                     {"unmatched", report.unmatched},
                     {"without_values", report.without_values},
                     {"left_out", report.left_out},
                     {"worst", PointJson(report.worst)},
                     {"points", std::move(points)},
                     {"notes", report.notes}};
  return json.dump() + "\n";
}

}  // namespace lockstep
