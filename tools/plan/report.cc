#include "tools/plan/report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// "512 B", "1.5 MiB".
std::string Size(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrFormat("%.0f B", bytes)
                   : absl::StrFormat("%.3g %s", bytes, units[unit]);
}

std::string Traffic(const AxisTraffic& traffic) {
  if (traffic.messages == 0) return "-";
  return absl::StrFormat("%.0f, %s", traffic.messages, Size(traffic.bytes));
}

std::string Crossing(const PlannedLayout& layout, const PlanRequest& request) {
  if (request.hosts.empty()) return "?";
  std::string axes;
  for (const MeshAxis axis : layout.crosses) {
    absl::StrAppend(&axes, axes.empty() ? "" : ",", NameOf(axis));
  }
  return axes.empty() ? "-" : axes;
}

std::string Row(const PlannedLayout& l, const PlanRequest& request) {
  return absl::StrFormat(
      "%s%5d %6d %8d %10d %6d %6d %10s %7.1f%% %6.1f%% %16s %16s %16s %-20s "
      "%s%s\n",
      l.current ? "*" : " ", l.shape.data, l.shape.tensor, l.shape.pipeline,
      l.interleave, l.shape.world(), l.idle, Size(l.memory.total()),
      100 * l.bubble, 100 * l.busy, Traffic(l.traffic.data),
      Traffic(l.traffic.tensor), Traffic(l.traffic.pipeline),
      Crossing(l, request), NameOf(l.keeps),
      l.Fits(request.memory_bytes) ? "" : ", too large");
}

Json OfTraffic(const AxisTraffic& traffic) {
  return {{"messages", static_cast<int64_t>(traffic.messages)},
          {"bytes", static_cast<int64_t>(traffic.bytes)}};
}

Json OfMemory(const RankMemory& m) {
  return {{"parameters", static_cast<int64_t>(m.parameters)},
          {"gradients", static_cast<int64_t>(m.gradients)},
          {"state", static_cast<int64_t>(m.state)},
          {"activations", static_cast<int64_t>(m.activations)},
          {"communication", static_cast<int64_t>(m.communication)}};
}

Json OfLayout(const PlannedLayout& l, const PlanRequest& request) {
  Json crosses;
  if (!request.hosts.empty()) {
    crosses = Json::array();
    for (const MeshAxis axis : l.crosses) crosses.push_back(NameOf(axis));
  }
  return {{"data", l.shape.data},
          {"tensor", l.shape.tensor},
          {"pipeline", l.shape.pipeline},
          {"interleave", l.interleave},
          {"ranks", l.shape.world()},
          {"idle", l.idle},
          {"bytes_per_rank", static_cast<int64_t>(l.memory.total())},
          {"bytes", OfMemory(l.memory)},
          {"bubble", l.bubble},
          {"busy", l.busy},
          {"traffic",
           {{"data", OfTraffic(l.traffic.data)},
            {"tensor", OfTraffic(l.traffic.tensor)},
            {"pipeline", OfTraffic(l.traffic.pipeline)}}},
          {"crosses_hosts", crosses},
          {"keeps", NameOf(l.keeps)},
          {"current", l.current},
          {"fits", request.memory_bytes > 0 ? Json(l.Fits(request.memory_bytes))
                                            : Json(nullptr)}};
}

}  // namespace

std::string PlanText(const std::vector<PlannedLayout>& layouts,
                     const PlanRequest& request, size_t most) {
  std::string text = absl::StrFormat(
      " %5s %6s %8s %10s %6s %6s %10s %8s %7s %16s %16s %16s %-20s %s\n",
      "data", "tensor", "pipeline", "interleave", "ranks", "idle", "a rank",
      "bubble", "busy", "data says", "tensor says", "pipeline says",
      "between hosts", "keeps");
  for (size_t i = 0; i < layouts.size(); ++i) {
    if (i < most || layouts[i].current) {
      absl::StrAppend(&text, Row(layouts[i], request));
    }
  }
  if (layouts.size() > most) {
    absl::StrAppend(&text, "of ", layouts.size(),
                    " layouts, the best first; --json has all\n");
  }
  const PlannedLayout& best = layouts.front();
  absl::StrAppend(
      &text, "\nfirst  ", ToString(best.shape), ", interleave ",
      best.interleave, ": ", WhyFirst(layouts, request),
      "\n* the recipe's own; a rank: the most that one needs; says: calls and "
      "bytes a step of the rank that says most; keeps: what a run that goes on "
      "from the recipe's layout holds\n");
  return text;
}

std::string PlanJson(const std::vector<PlannedLayout>& layouts,
                     const PlanRequest& request) {
  Json list = Json::array();
  for (const PlannedLayout& layout : layouts) {
    list.push_back(OfLayout(layout, request));
  }
  Json object;
  object["world"] = request.world;
  object["world_before"] = request.world_before;
  object["hosts"] = request.hosts.empty()
                        ? Json(nullptr)
                        : Json(static_cast<int64_t>(request.hosts.size()));
  object["memory_bytes"] =
      request.memory_bytes > 0
          ? Json(static_cast<int64_t>(request.memory_bytes))
          : Json(nullptr);
  object["reason"] = WhyFirst(layouts, request);
  object["layouts"] = std::move(list);
  return object.dump() + "\n";
}

}  // namespace lockstep
