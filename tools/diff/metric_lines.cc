#include "tools/diff/metric_lines.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/diff/line_check.h"
#include "tools/foreign_json.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTimes[] = {"step_ms", "tokens_per_s", "mfu"};

// The writer puts the three times side by side: what stands before and behind
// them. False for a line in another shape.
bool CutOutTimes(std::string_view line, std::string_view& before,
                 std::string_view& behind) {
  const size_t from = line.find("\"step_ms\":");
  const size_t last = line.find("\"mfu\":", from);
  if (from == std::string_view::npos || last == std::string_view::npos) {
    return false;
  }
  const size_t end = line.find_first_of(",}", last);
  if (end == std::string_view::npos) return false;
  before = line.substr(0, from);
  behind = line.substr(end);
  return true;
}

bool IsTime(std::string_view key) {
  return std::find(std::begin(kTimes), std::end(kTimes), key) !=
         std::end(kTimes);
}

// Whether a run takes some moves no bit: one that took none differs in nothing
// that they could show.
bool HasFingerprints(const Json& line) {
  const auto fingerprint = line.find("fingerprint");
  return fingerprint != line.end() && fingerprint->is_object();
}

void Collect(const Json& a, const Json& b, const std::string& prefix,
             std::set<std::string>& fields) {
  for (const auto& [key, value] : a.items()) {
    if (prefix.empty() && IsTime(key)) continue;
    const auto other = b.find(key);
    if (other == b.end()) {
      fields.insert(prefix + key);
    } else if (value.is_object() && other->is_object()) {
      Collect(value, *other, absl::StrCat(prefix, key, "."), fields);
    } else if (value != *other) {
      fields.insert(prefix + key);
    }
  }
}

}  // namespace

bool SameButForTimes(std::string_view a, std::string_view b) {
  std::string_view before_a, behind_a, before_b, behind_b;
  if (CutOutTimes(a, before_a, behind_a) &&
      CutOutTimes(b, before_b, behind_b) && before_a == before_b &&
      behind_a == behind_b) {
    return true;
  }
  return FieldsThatDiffer(a, b).empty();
}

std::vector<std::string> FieldsThatDiffer(std::string_view a,
                                          std::string_view b) {
  auto x = ParseForeign<Json>(a), y = ParseForeign<Json>(b);
  if (!x.is_object() || !y.is_object()) return {"line"};
  if (!HasFingerprints(x) || !HasFingerprints(y)) {
    x.erase("fingerprint");
    y.erase("fingerprint");
  }
  std::set<std::string> fields;
  Collect(x, y, "", fields);
  Collect(y, x, "", fields);
  return {fields.begin(), fields.end()};
}

int64_t StepOfLine(std::string_view line) {
  constexpr std::string_view kStart = "{\"step\":";
  int64_t step = 0;
  if (line.starts_with(kStart)) {
    const char* const end = line.data() + line.size();
    const auto result = std::from_chars(line.data() + kStart.size(), end, step);
    if (result.ec == std::errc() && result.ptr != end && *result.ptr == ',') {
      return step;
    }
  }
  return WholeField(ParseForeign<Json>(line), "step").value_or(-1);
}

namespace {

// One of the two files, at a line.
class Side {
 public:
  Side(FileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}

  absl::Status Open() {
    LS_ASSIGN_OR_RETURN(reader_, LineReader::Open(fs_, path_));
    LS_RETURN_IF_ERROR(Next());
    first = step();
    return absl::OkStatus();
  }

  absl::Status Next() {
    LS_ASSIGN_OR_RETURN(line_, reader_.Next());
    if (!line_) return absl::OkStatus();
    ++number_;
    const int64_t next = StepOfLine(*line_);
    if (next <= last) {
      return InputError(
          absl::StrCat("a line that is no step behind step ", last), Where(),
          "it was written to by something else than a trainer, or is damaged");
    }
    last = next;
    return absl::OkStatus();
  }

  absl::Status CheckLine() const {
    return CheckMetricLine(*line_, last, Where());
  }

  bool ended() const { return !line_; }
  int64_t step() const { return line_ ? last : 0; }
  std::string_view line() const { return *line_; }

  int64_t first = 0, last = 0;

 private:
  std::string Where() const { return absl::StrCat(path_, ", line ", number_); }

  FileSystem& fs_;
  const std::string path_;
  int64_t number_ = 0;  // of the line, from 1
  LineReader reader_;
  std::optional<std::string_view> line_;
};

absl::Status CompareStep(Side& a, Side& b, MetricsParting& result) {
  ++result.compared;
  if (result.step == 0 && !SameButForTimes(a.line(), b.line())) {
    LS_RETURN_IF_ERROR(a.CheckLine());
    LS_RETURN_IF_ERROR(b.CheckLine());
    result.step = a.step();
    result.fields = FieldsThatDiffer(a.line(), b.line());
  }
  LS_RETURN_IF_ERROR(a.Next());
  return b.Next();
}

}  // namespace

absl::StatusOr<MetricsParting> CompareMetricLines(FileSystem& fs,
                                                  const std::string& path_a,
                                                  const std::string& path_b) {
  Side a(fs, path_a), b(fs, path_b);
  LS_RETURN_IF_ERROR(a.Open());
  LS_RETURN_IF_ERROR(b.Open());
  MetricsParting result;
  while (!a.ended() || !b.ended()) {
    if (!a.ended() && !b.ended() && a.step() == b.step()) {
      LS_RETURN_IF_ERROR(CompareStep(a, b, result));
      continue;
    }
    const bool behind = b.ended() || (!a.ended() && a.step() < b.step());
    const Side& other = behind ? b : a;
    Side& lone = behind ? a : b;
    if (result.missing == 0 && !other.ended() && lone.step() > other.first) {
      result.missing = lone.step();
    }
    LS_RETURN_IF_ERROR(lone.Next());
  }
  result.first_a = a.first;
  result.last_a = a.last;
  result.first_b = b.first;
  result.last_b = b.last;
  return result;
}

}  // namespace lockstep
