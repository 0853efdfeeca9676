// Text and JSON of `bisect`.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

std::string Sentence(const BisectResult& r) {
  if (r.verdict == "equal") return "no step of the two runs differs";
  if (r.verdict == "manifest") return "the runs were made differently";
  if (r.verdict == "data") {
    return r.sample < 0 ? "they read other tokens"
                        : absl::StrCat("sample ", r.sample,
                                       " has other tokens in the one");
  }
  if (r.verdict == "not_reproduced") return "the difference does not come back";
  if (!r.trace.has_value()) {
    return absl::StrCat("what run ", r.odd_one,
                        " recorded does not come back, and the other's does");
  }
  return "";
}

std::string ElementsText(const ElementDifference& e) {
  std::string text = absl::StrCat(
      e.differ, " of ", e.count, " elements differ, the first at [",
      absl::StrJoin(e.first, ","), "]: 0x", e.a, " and 0x", e.b, "\n");
  for (const auto& [ulps, count] : e.ulps) {
    absl::StrAppend(&text, "  ",
                    ulps < 0 ? std::string("not a number")
                             : absl::StrCat("from ", ulps, " ulp"),
                    ": ", count, "\n");
  }
  return text;
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

Json CommandsJson(const BisectResult& r) {
  Json commands = Json::array();
  for (const BisectCommand& command : r.commands) {
    commands.push_back({{"what", command.what}, {"line", command.line}});
  }
  return commands;
}

}  // namespace

std::string BisectHeadline(const BisectResult& r) {
  std::string words = r.verdict;
  for (char& c : words) {
    if (c == '_') c = ' ';
  }
  if (r.trace.has_value() && !r.trace->equal()) {
    const OperationIdentity& id = r.trace->first.identity;
    return absl::StrCat(words, ": ", id.scope, id.scope.empty() ? "" : " ",
                        id.operation, ", step ", r.step);
  }
  const std::string sentence = Sentence(r);
  return sentence.empty() ? words : absl::StrCat(words, ": ", sentence);
}

std::string BisectPlace(const BisectResult& r) {
  if (!r.trace.has_value() || r.trace->equal()) return "";
  const TraceDifference& t = *r.trace;
  std::string text =
      absl::StrCat(ToString(t.first.identity), ", tensor ", t.first.tensor);
  if (t.across_layouts) return text + ", between two layouts";
  return absl::StrCat(
      text, ", rank ", t.first.rank,
      t.ranks.size() > 1
          ? absl::StrCat(" (also ", t.ranks.size() - 1, " other ranks)")
          : "");
}

std::string BisectText(const BisectResult& r) {
  std::string text = absl::StrCat(r.verdict, "\n");
  if (r.step > 0) {
    absl::StrAppend(&text, "first differing step: ", r.step, " (",
                    absl::StrJoin(r.fields, " "), ")\n");
  }
  const std::string place = BisectPlace(r);
  if (!place.empty()) absl::StrAppend(&text, place, "\n");
  const std::string sentence = Sentence(r);
  if (!sentence.empty()) absl::StrAppend(&text, sentence, "\n");
  if (r.elements) text += ElementsText(*r.elements);
  if (r.repeatable) {
    absl::StrAppend(&text, *r.repeatable
                               ? "repeatable: both runs recur in a replay\n"
                               : "not repeatable\n");
  }
  if (!r.cause.empty()) absl::StrAppend(&text, "likely: ", r.cause, "\n");
  for (const BisectDifference& d : r.differences) {
    absl::StrAppend(&text, d.explains ? "* " : "  ", d.key, ": ",
                    d.a.substr(0, 60), " | ", d.b.substr(0, 60), "\n");
  }
  for (const std::string& note : r.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  if (!r.page.empty()) absl::StrAppend(&text, "page: ", r.page, "\n");
  return text;
}

std::string BisectJson(const BisectResult& r) {
  const RankParting first = r.trace ? r.trace->first : RankParting{};
  const bool placed = first.kind != Parting::kNone;
  const auto text = [&](const std::string& value) {
    return placed ? Json(value) : Json(nullptr);
  };
  const auto sample =
      placed ? static_cast<int64_t>(first.identity.first_sample) : r.sample;
  const Json json = {
      {"verdict", r.verdict},
      {"step", r.step == 0 ? Json(nullptr) : Json(r.step)},
      {"rank", placed && first.rank >= 0 ? Json(first.rank) : Json(nullptr)},
      {"ranks", r.trace ? Json(r.trace->ranks) : Json::array()},
      {"phase", text(first.identity.phase)},
      {"scope", text(first.identity.scope)},
      {"operation", text(first.identity.operation)},
      {"tensor", text(first.tensor)},
      {"sample", sample < 0 ? Json(nullptr) : Json(sample)},
      {"micro_batch", placed ? Json(first.micro_batch) : Json(nullptr)},
      {"repeatable", r.repeatable ? Json(*r.repeatable) : Json(nullptr)},
      {"replays", r.replays},
      {"cause", r.cause},
      {"differences", DifferencesJson(r)},
      {"fields", r.fields},
      {"began_at", r.began_at},
      {"odd_one", r.odd_one.empty() ? Json(nullptr) : Json(r.odd_one)},
      {"elements", r.elements ? ElementsJson(*r.elements) : Json(nullptr)},
      {"certainty", r.certainty},
      {"commands", CommandsJson(r)},
      {"page", r.page.empty() ? Json(nullptr) : Json(r.page)},
      {"notes", r.notes}};
  return json.dump() + "\n";
}

}  // namespace lockstep
