#include "tools/diff/line_check.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/foreign_json.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Numbers stand in a line twice, for people and as bits. Empty: they agree.
std::string Contradiction(const Json& line) {
  for (const auto& [key, bits] : line.items()) {
    constexpr std::string_view kBits = "_bits";
    if (!key.ends_with(kBits) || !bits.is_string()) continue;
    const std::string name = key.substr(0, key.size() - kBits.size());
    const auto value = line.find(name);
    if (value == line.end() || !value->is_number()) continue;
    if (BitsOf(value->get<double>()) != bits.get<std::string>()) {
      return absl::StrCat(name, " and ", key, " are two numbers");
    }
  }
  return "";
}

}  // namespace

absl::Status CheckMetricLine(std::string_view line, int64_t step,
                             const std::string& where) {
  const Json json = ParseForeign<Json>(line);
  const std::string what =
      json.is_object() ? Contradiction(json) : "it is no JSON";
  if (what.empty()) return absl::OkStatus();
  return InputError(
      absl::StrCat("the line of step ", step, " is damaged: ", what), where,
      "it was changed after it was written: put back the file, or take away "
      "what is no line");
}

}  // namespace lockstep
