#include "tools/metrics_compare.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_split.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

absl::StatusOr<std::vector<Json>> ReadLines(FileSystem& fs,
                                            const std::string& run) {
  const std::string path = JoinPath(run, "metrics.jsonl");
  LS_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
  std::vector<Json> lines;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      return InputError("a line is no JSON object", path,
                        "`lockstep ckpt verify` says what else is damaged");
    }
    for (const char* timing : {"step_ms", "tokens_per_s", "mfu"}) {
      json.erase(timing);
    }
    lines.push_back(std::move(json));
  }
  return lines;
}

int64_t StepOf(const Json& line) {
  const auto step = line.find("step");
  return step != line.end() && step->is_number_integer() ? step->get<int64_t>()
                                                         : -1;
}

std::vector<std::string> FieldsThatDiffer(const Json& a, const Json& b) {
  std::set<std::string> fields;
  for (const Json* side : {&a, &b}) {
    for (const auto& [key, value] : side->items()) {
      if (!a.contains(key) || !b.contains(key) || a[key] != b[key]) {
        fields.insert(key);
      }
    }
  }
  return {fields.begin(), fields.end()};
}

}  // namespace

absl::StatusOr<MetricsComparison> CompareMetrics(FileSystem& fs,
                                                 const std::string& run_a,
                                                 const std::string& run_b) {
  LS_ASSIGN_OR_RETURN(const std::vector<Json> a, ReadLines(fs, run_a));
  LS_ASSIGN_OR_RETURN(const std::vector<Json> b, ReadLines(fs, run_b));
  MetricsComparison result;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size()) {
      result.step = StepOf(i < a.size() ? a[i] : b[i]);
      result.fields = {"line"};
      return result;
    }
    if (a[i] != b[i]) {
      result.step = StepOf(a[i]);
      result.fields = FieldsThatDiffer(a[i], b[i]);
      return result;
    }
    ++result.lines;
  }
  return result;
}

}  // namespace lockstep
