#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/bench/bench.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// A number, or null where there was nothing to compare with.
Json IfAny(bool any, double value) { return any ? Json(value) : Json(nullptr); }

}  // namespace

std::string BenchJson(const std::string& name,
                      const std::vector<BenchCase>& cases) {
  Json list = Json::array();
  for (const BenchCase& c : cases) {
    const bool peer = !c.peer.empty();
    const bool interval = c.ratio_high > 0;
    list.push_back({{"name", c.name},
                    {"threads", c.threads},
                    {"rate", c.rate},
                    {"unit", c.unit},
                    {"probe", IfAny(c.probe > 0, c.probe)},
                    {"ratio", IfAny(c.probe > 0, c.ratio)},
                    {"peer", peer ? Json(c.peer) : Json(nullptr)},
                    {"peer_ratio", IfAny(peer, c.peer_ratio)}});
    if (interval) {
      list.back()["ratio_low"] = c.ratio_low;
      list.back()["ratio_high"] = c.ratio_high;
    }
  }
  return Json{{"bench", name}, {"cases", list}}.dump(
             -1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string BenchTable(const std::vector<BenchCase>& cases) {
  std::string text =
      absl::StrFormat("%-34s %7s %12s %-14s %12s %7s %s\n", "case", "threads",
                      "rate", "unit", "probe", "ratio", "peer");
  for (const BenchCase& c : cases) {
    absl::StrAppendFormat(&text, "%-34s %7d %12.5g %-14s ", c.name, c.threads,
                          c.rate, c.unit);
    if (c.probe > 0) {
      absl::StrAppendFormat(&text, "%12.5g %7.3f", c.probe, c.ratio);
    } else {
      absl::StrAppendFormat(&text, "%12s %7s", "-", "-");
    }
    if (c.ratio_high > 0) {
      absl::StrAppendFormat(&text, " [%.3f, %.3f]", c.ratio_low, c.ratio_high);
    }
    if (!c.peer.empty()) {
      absl::StrAppendFormat(&text, " %s %.3f", c.peer, c.peer_ratio);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace lockstep
