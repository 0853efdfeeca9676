// JSON of `bisect`; bisect.h has the fields.
#include <nlohmann/json.hpp>

#include "tools/bisect/bisect.h"
#include "tools/bisect/likely_cause.h"
#include "tools/foreign_json.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// Of wholes over two layouts there is none.
Json RankJson(int rank) { return rank < 0 ? Json(nullptr) : Json(rank); }

Json StateJson(const StateDifference& s) {
  return {
      {"entry", s.entry},
      {"rank", RankJson(s.rank)},
      {"entries", s.entries},
      {"path", s.path},
      {"saved_right", s.saved_right ? Json(*s.saved_right) : Json(nullptr)}};
}

Json ElementsJson(const ElementDifference& e) {
  Json ulps = Json::object();
  for (const auto& [least, count] : e.ulps) {
    ulps[least < 0 ? "nan" : std::to_string(least)] = count;
  }
  return {{"tensor", e.tensor},     {"count", e.count}, {"differ", e.differ},
          {"first", e.first},       {"a", e.a},         {"b", e.b},
          {"ulps", std::move(ulps)}};
}

Json DifferencesJson(const BisectResult& r) {
  Json differences = Json::array();
  for (const BisectDifference& d : r.differences) {
    differences.push_back(
        {{"key", d.key}, {"a", d.a}, {"b", d.b}, {"explains", d.explains}});
  }
  return differences;
}

Json CausesJson(const BisectResult& r) {
  Json causes = Json::array();
  for (const CauseRow& row : LikelyCauses(r)) {
    causes.push_back({{"symptom", row.symptom},
                      {"cause", row.cause},
                      {"check", row.check},
                      {"remedy", row.remedy}});
  }
  return causes;
}

Json CommandsJson(const BisectResult& r) {
  Json commands = Json::array();
  for (const BisectCommand& command : r.commands) {
    commands.push_back({{"what", command.what}, {"line", command.line}});
  }
  return commands;
}

}  // namespace

std::string BisectJson(const BisectResult& r, const std::string& fix_json) {
  const RankParting first = r.trace ? r.trace->first : RankParting{};
  const bool placed = first.kind != Parting::kNone;
  const auto text = [&](const std::string& value) {
    return placed ? Json(value) : Json(nullptr);
  };
  const auto sample =
      placed ? static_cast<int64_t>(first.identity.first_sample) : r.sample;
  Json json = {
      {"verdict", r.verdict},
      {"step", r.step == 0 ? Json(nullptr) : Json(r.step)},
      {"rank", r.state  ? RankJson(r.state->rank)
               : placed ? RankJson(first.rank)
                        : Json(nullptr)},
      {"ranks", r.trace ? Json(r.trace->ranks) : Json::array()},
      {"phase", r.state ? Json(r.verdict == "saved_state" ? "save" : "load")
                        : text(first.identity.phase)},
      {"scope", text(first.identity.scope)},
      {"operation", text(first.identity.operation)},
      {"tensor", r.state ? Json(r.state->entry) : text(first.tensor)},
      {"sample", sample < 0 ? Json(nullptr) : Json(sample)},
      {"tokens_of", r.tokens_of < 0 ? Json(nullptr) : Json(r.tokens_of)},
      {"tokens_in", r.tokens_of < 0 ? Json(nullptr) : Json(r.tokens_in)},
      {"micro_batch", placed ? Json(first.micro_batch) : Json(nullptr)},
      {"repeatable", r.repeatable ? Json(*r.repeatable) : Json(nullptr)},
      {"replays", r.replays},
      {"cause", r.cause},
      {"differences", DifferencesJson(r)},
      {"fields", r.fields},
      {"grew_apart", r.grew_apart},
      {"from_further_back", r.from_further_back},
      {"began_at", r.began_at},
      {"odd_one", r.odd_one.empty() ? Json(nullptr) : Json(r.odd_one)},
      {"elements", r.elements ? ElementsJson(*r.elements) : Json(nullptr)},
      {"causes", CausesJson(r)},
      {"state", r.state ? StateJson(*r.state) : Json(nullptr)},
      {"sound_memory", r.sound_memory ? Json(*r.sound_memory) : Json(nullptr)},
      {"saved", r.saved.empty() ? Json(nullptr) : Json(r.saved)},
      {"certainty", r.certainty},
      {"commands", CommandsJson(r)},
      {"page", r.page.empty() ? Json(nullptr) : Json(r.page)},
      {"notes", r.notes},
      {"producer", first.kind == Parting::kBetween
                       ? Json(ToString(first.producer))
                       : Json(nullptr)},
      {"only_in", first.kind == Parting::kControlFlow
                      ? Json(first.only_in_a ? "a" : "b")
                      : Json(nullptr)}};
  if (!fix_json.empty()) json["fix"] = Json::parse(fix_json);
  return DumpForeign(json) + "\n";
}

}  // namespace lockstep
