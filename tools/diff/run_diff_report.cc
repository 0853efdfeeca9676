// The difference of two runs, as JSON and in words.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/diff/run_diff.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestValue = 60;  // of a line of text

Json EventsJson(const std::vector<LineageEvent>& events) {
  Json json = Json::array();
  for (const LineageEvent& event : events) {
    json.push_back({{"event", event.key}, {"what", event.what}});
  }
  return json;
}

Json CheckpointJson(const SharedCheckpoint& pair) {
  if (pair.step == 0 && pair.a.empty()) return nullptr;
  return {{"step", pair.step},
          {"a", pair.a},
          {"b", pair.b},
          {"state", pair.state.empty() ? Json() : Json(pair.state)}};
}

Json SideJson(const std::string& run, int64_t first, int64_t last,
              const std::string& start) {
  return {{"run", run},
          {"first_step", first},
          {"last_step", last},
          {"start_state", start.empty() ? Json() : Json(start)}};
}

std::string Short(const std::string& value) {
  return value.size() <= kLongestValue ? value
                                       : value.substr(0, kLongestValue) + "...";
}

std::string ManifestText(const RunDiff& diff) {
  std::string text;
  for (const bool explains : {true, false}) {
    bool titled = false;
    for (const DiffEntry& entry : diff.manifest) {
      if (entry.explains != explains) continue;
      if (!titled) {
        text += explains ? "differences that can move bits:\n"
                         : "differences that move no bit:\n";
      }
      titled = true;
      absl::StrAppend(&text, "  ", entry.key, ": ", Short(entry.a), " | ",
                      Short(entry.b), " (", entry.why, ")\n");
    }
  }
  return text;
}

std::string EventsText(const char* side,
                       const std::vector<LineageEvent>& events) {
  std::string text;
  for (const LineageEvent& event : events) {
    absl::StrAppend(&text, "only in ", side, ": ", event.key, ": ", event.what,
                    "\n");
  }
  return text;
}

std::string StepText(const RunDiff& diff) {
  const MetricsParting& m = diff.metrics;
  std::string text =
      absl::StrCat("A has steps ", m.first_a, " to ", m.last_a, ", B ",
                   m.first_b, " to ", m.last_b, "; ", m.compared, " of both\n");
  if (m.step != 0) {
    absl::StrAppend(&text, "first differing step ", m.step, ": ",
                    absl::StrJoin(m.fields, ", "), "\n");
  }
  return text;
}

std::string CheckpointText(const RunDiff& diff) {
  std::string text;
  if (!diff.last_equal.a.empty()) {
    absl::StrAppend(&text, "last checkpoint equal in both: step ",
                    diff.last_equal.step, ", state ", diff.last_equal.state,
                    " (of their indices; `lockstep ckpt diff ",
                    diff.last_equal.a, " ", diff.last_equal.b,
                    "` reads the bytes)\n");
  }
  if (!diff.first_different.a.empty()) {
    absl::StrAppend(&text, "first checkpoint that differs: step ",
                    diff.first_different.step, "; `lockstep ckpt diff ",
                    diff.first_different.a, " ", diff.first_different.b,
                    "` names the tensors\n");
  }
  return text.empty() ? "no checkpoint of a step that both have\n" : text;
}

}  // namespace

std::string RunDiffJson(const RunDiff& diff) {
  const MetricsParting& m = diff.metrics;
  Json manifest = Json::array();
  for (const DiffEntry& entry : diff.manifest) {
    manifest.push_back({{"key", entry.key},
                        {"a", entry.a},
                        {"b", entry.b},
                        {"explains", entry.explains},
                        {"why", entry.why}});
  }
  Json json;
  json["verdict"] = diff.equal ? "equal" : "differs";
  json["step"] = m.step != 0 ? Json(m.step) : Json();
  json["fields"] = m.fields;
  json["reading"] = diff.reading;
  json["steps_compared"] = m.compared;
  json["missing_step"] = m.missing != 0 ? Json(m.missing) : Json();
  json["a"] = SideJson(diff.run_a, m.first_a, m.last_a, diff.start_a);
  json["b"] = SideJson(diff.run_b, m.first_b, m.last_b, diff.start_b);
  json["manifest"] = manifest;
  json["only_in_a"] = EventsJson(diff.only_a);
  json["only_in_b"] = EventsJson(diff.only_b);
  json["last_equal_checkpoint"] = CheckpointJson(diff.last_equal);
  json["first_different_checkpoint"] = CheckpointJson(diff.first_different);
  return json.dump() + "\n";
}

std::string RunDiffText(const RunDiff& diff) {
  return absl::StrCat(diff.equal ? "equal" : "differs", ": ", diff.reading,
                      "\nA is ", diff.run_a, ", B is ", diff.run_b, "\n",
                      StepText(diff), CheckpointText(diff), ManifestText(diff),
                      EventsText("A", diff.only_a),
                      EventsText("B", diff.only_b));
}

}  // namespace lockstep
