#include "tools/resize_note.h"

#include <nlohmann/json.hpp>

namespace lockstep {

ResizeNote ReadResizeNote(std::string_view text) {
  using Json = nlohmann::json;
  ResizeNote note;
  const Json json = Json::parse(text, nullptr, /*exceptions=*/false);
  if (!json.is_object()) return note;
  const auto reason = json.find("reason"), waited = json.find("waited_ms"),
             idle = json.find("idle");
  if (reason != json.end() && reason->is_string()) note.reason = *reason;
  if (waited != json.end() && waited->is_number_integer()) {
    note.waited_ms = *waited;
  }
  if (idle == json.end() || !idle->is_array()) return note;
  for (const Json& host : *idle) {
    if (host.is_string()) note.idle.push_back(host);
  }
  return note;
}

}  // namespace lockstep
