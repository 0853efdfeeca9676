#include "tools/bisect/evidence.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest_compare.h"
#include "ckpt/verify.h"
#include "determinism/status.h"
#include "tools/metrics_compare.h"
#include "tools/stored_run.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// The line of a step; an empty object where there is none.
absl::StatusOr<Json> LineOf(FileSystem& fs, const std::string& run,
                            int64_t step) {
  LS_ASSIGN_OR_RETURN(const std::string text,
                      fs.ReadFile(JoinPath(run, "metrics.jsonl")));
  const std::string begin = absl::StrCat("{\"step\":", step, ",");
  for (const auto line : absl::StrSplit(text, '\n')) {
    const std::string_view view(line.data(), line.size());
    if (!view.starts_with(begin)) continue;
    Json json = Json::parse(view, nullptr, false);
    if (json.is_object()) return json;
  }
  return Json::object();
}

// "fingerprint" as the fields inside that differ.
absl::StatusOr<std::vector<std::string>> FieldsOf(
    FileSystem& fs, const std::string& a, const std::string& b,
    const MetricsComparison& metrics) {
  LS_ASSIGN_OR_RETURN(const Json line_a, LineOf(fs, a, metrics.step));
  LS_ASSIGN_OR_RETURN(const Json line_b, LineOf(fs, b, metrics.step));
  std::vector<std::string> fields;
  for (const std::string& field : metrics.fields) {
    if (field != "fingerprint" || !line_a.contains(field) ||
        !line_b.contains(field)) {
      fields.push_back(field);
      continue;
    }
    for (const auto& [name, value] : line_a[field].items()) {
      if (line_b[field].value(name, "") != value) {
        fields.push_back("fingerprint." + name);
      }
    }
  }
  return fields;
}

// Another program may give other bits and must not.
bool OfTheProgram(const std::string& key) {
  return key == "commit" || key == "dirty" || key == "binary" ||
         key == "compiler" || key == "image_digest" ||
         key.starts_with("libraries");
}

absl::Status TakeDifferences(FileSystem& fs, const std::string& a,
                             const std::string& b, Evidence& evidence) {
  LS_ASSIGN_OR_RETURN(const Manifest one, ManifestOfStep(fs, a, evidence.step));
  LS_ASSIGN_OR_RETURN(const Manifest other,
                      ManifestOfStep(fs, b, evidence.step));
  const Guarantee rung = std::min(one.guarantee, other.guarantee);
  for (const ManifestDifference& d :
       CompareManifests(one, other, std::max(rung, Guarantee::kBitwise))) {
    if (d.key == "faults") continue;
    evidence.differences.push_back(
        {d.key, d.saved, d.current,
         d.verdict != Verdict::kHarmless && !OfTheProgram(d.key)});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<int64_t, std::string>> StatesOf(
    FileSystem& fs, const std::string& run) {
  std::map<int64_t, std::string> states;
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, run));
  for (const ListedCheckpoint& checkpoint : checkpoints) {
    if (!checkpoint.complete) continue;
    const auto index = ReadIndex(fs, checkpoint.dir);
    if (index.ok()) states[checkpoint.step] = index->state_fingerprint;
  }
  return states;
}

absl::Status FindCheckpoints(FileSystem& fs, const std::string& a,
                             const std::string& b, Evidence& evidence) {
  LS_ASSIGN_OR_RETURN(const auto one, StatesOf(fs, a));
  LS_ASSIGN_OR_RETURN(const auto other, StatesOf(fs, b));
  for (const auto& [step, state] : one) {
    const auto match = other.find(step);
    if (step < evidence.step && match != other.end() &&
        match->second == state) {
      evidence.equal_checkpoint = step;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ResumedBefore(FileSystem& fs, const std::string& run,
                                   int64_t step) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run));
  return std::any_of(ledger.entries.begin(), ledger.entries.end(),
                     [&](const auto& entry) {
                       return entry.event == "resume" &&
                              entry.Field("step") == std::to_string(step - 1);
                     });
}

}  // namespace

bool Evidence::Explained() const {
  return std::any_of(differences.begin(), differences.end(),
                     [](const BisectDifference& d) { return d.explains; });
}

bool Evidence::Differs(const std::string& field) const {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

absl::StatusOr<Evidence> GatherEvidence(FileSystem& fs, const std::string& a,
                                        const std::string& b) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, a));
  LS_RETURN_IF_ERROR(CheckRunExists(fs, b));
  LS_ASSIGN_OR_RETURN(const MetricsComparison metrics,
                      CompareMetrics(fs, a, b));
  Evidence evidence = {.equal_steps = metrics.lines, .step = metrics.step};
  // One that has gone further has done no other step.
  const bool only_longer = metrics.step != 0 && metrics.fields.size() == 1 &&
                           metrics.fields[0] == "line";
  if (only_longer) evidence.step = 0;
  if (evidence.step == 0 && metrics.lines == 0) {
    return InputError("the runs have no step in common",
                      absl::StrCat(a, ", ", b),
                      "name two runs that have both done a step");
  }
  if (evidence.step == 0) return evidence;
  LS_ASSIGN_OR_RETURN(evidence.fields, FieldsOf(fs, a, b, metrics));
  LS_RETURN_IF_ERROR(TakeDifferences(fs, a, b, evidence));
  LS_RETURN_IF_ERROR(FindCheckpoints(fs, a, b, evidence));
  LS_ASSIGN_OR_RETURN(evidence.after_load_a,
                      ResumedBefore(fs, a, evidence.step));
  LS_ASSIGN_OR_RETURN(evidence.after_load_b,
                      ResumedBefore(fs, b, evidence.step));
  return evidence;
}

}  // namespace lockstep
