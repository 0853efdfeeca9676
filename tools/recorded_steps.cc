#include "tools/recorded_steps.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/check.h"
#include "determinism/status.h"
#include "tools/foreign_json.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

bool IsTiming(std::string_view key) {
  return key == "step_ms" || key == "tokens_per_s" || key == "mfu";
}

// The step of a line, or 0 for what is no step's line.
int64_t StepOf(const std::string& line) {
  return WholeField(ParseForeign<Json>(line), "step").value_or(0);
}

void Compare(const Json& recorded, const Json& ours, const std::string& prefix,
             std::set<std::string>& differences) {
  for (const auto& [key, value] : recorded.items()) {
    if (prefix.empty() && IsTiming(key)) continue;
    const auto found = ours.find(key);
    if (found == ours.end()) {
      differences.insert(prefix + key);
    } else if (value.is_object() && found->is_object()) {
      Compare(value, *found, absl::StrCat(prefix, key, "."), differences);
    } else if (value != *found) {
      differences.insert(prefix + key);
    }
  }
}

}  // namespace

absl::StatusOr<RecordedSteps> RecordedSteps::Read(FileSystem& fs,
                                                  const std::string& run_dir) {
  RecordedSteps steps;
  steps.path_ = run_dir + "/metrics.jsonl";
  if (!fs.Exists(steps.path_)) return steps;
  LS_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(steps.path_));
  int64_t number = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = text.find('\n', from);
    if (end == std::string::npos) break;
    std::string line = text.substr(from, end - from);
    const int64_t step = StepOf(line);
    ++number;
    if (step <= 0) {
      steps.bad_line_ = number;
      break;
    }
    steps.lines_[step] = std::move(line);
    from = end + 1;
  }
  return steps;
}

absl::Status RecordedSteps::CheckLines() const {
  if (bad_line_ == 0) return absl::OkStatus();
  return InputError(
      absl::StrCat("a line that is no step's, behind step ", last()),
      absl::StrCat(path_, ", line ", bad_line_),
      "it was changed after it was written: put back the file, or take away "
      "what is no line");
}

double RecordedSteps::Number(int64_t step, const char* key) const {
  const auto line = lines_.find(step);
  if (line != lines_.end()) {
    const Json json = Json::parse(line->second);
    const auto value = json.find(key);
    if (value != json.end() && value->is_number()) return value->get<double>();
  }
  return std::numeric_limits<double>::quiet_NaN();
}

uint64_t RecordedSteps::Count(int64_t step, const char* key) const {
  const auto line = lines_.find(step);
  if (line == lines_.end()) return 0;
  const Json json = Json::parse(line->second);
  const auto value = json.find(key);
  const bool is_count = value != json.end() && value->is_number_unsigned();
  return is_count ? value->get<uint64_t>() : 0;
}

double RecordedSteps::Loss(int64_t step) const { return Number(step, "loss"); }

double RecordedSteps::GradNorm(int64_t step) const {
  return Number(step, "grad_norm");
}

std::vector<std::string> RecordedSteps::Differences(
    const StepReport& report) const {
  const auto line = lines_.find(report.step);
  LS_CHECK(line != lines_.end()) << report.step;
  std::set<std::string> differences;
  // What was written went through text once; so does what it is held against.
  Compare(Json::parse(line->second), Json::parse(MetricsLine(report)), "",
          differences);
  return {differences.begin(), differences.end()};
}

}  // namespace lockstep
