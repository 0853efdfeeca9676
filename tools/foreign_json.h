// JSON that something else than this program may have written.
//
// What it is: parsing that no text can end the program by, and fields of which
// one of another type is as good as none. What it is not: what says which field
// is wrong (ckpt/sealed_json.h), for files that are an error as a whole. Why
// so: a run's folder and another program's answer are read by people's tools
// whoever wrote to them, and a library that throws ends all of it.
#ifndef LOCKSTEP_TOOLS_FOREIGN_JSON_H_
#define LOCKSTEP_TOOLS_FOREIGN_JSON_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

// Deeper than all that is written here. Comparing and printing go as deep as
// the text does, and a stack has an end.
inline constexpr int kDeepestJson = 32;

// Discarded, as is_discarded() says, for what is no JSON or is deeper.
template <typename Json = nlohmann::ordered_json>
Json ParseForeign(std::string_view text) {
  bool deep = false;
  const auto see = [&](int depth, typename Json::parse_event_t, Json&) {
    deep |= depth > kDeepestJson;
    return !deep;
  };
  Json json = Json::parse(text, see, false);
  return deep ? Json(Json::value_t::discarded) : json;
}

// The text of any of it: bytes that are no UTF-8 are replaced.
template <typename Json>
std::string DumpForeign(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <typename Json>
std::optional<int64_t> WholeField(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() &&
      found->template get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  return found->template get<int64_t>();
}

template <typename Json>
std::optional<double> NumberField(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->template get<double>();
}

template <typename Json>
std::optional<std::string> TextField(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->template get<std::string>();
}

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_FOREIGN_JSON_H_
