#include "tools/bisect/evidence.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest_compare.h"
#include "ckpt/verify.h"
#include "determinism/status.h"
#include "tools/bisect/hidden_step.h"
#include "tools/bisect/ledger_events.h"
#include "tools/diff/metric_lines.h"
#include "tools/launches.h"
#include "tools/stored_run.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

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
  evidence.across_layouts = !SameLayout(one, other);
  LS_ASSIGN_OR_RETURN(const RunConfig of_a,
                      ConfigOfManifest(one, "run a's manifest"));
  LS_ASSIGN_OR_RETURN(const RunConfig of_b,
                      ConfigOfManifest(other, "run b's manifest"));
  evidence.fingerprinted =
      of_a.metrics.fingerprints && of_b.metrics.fingerprints;
  evidence.replicas = one.layout.data > 1 || other.layout.data > 1;
  const auto both = [&](const char* key, const auto& in_a, const auto& in_b) {
    if (in_a == in_b) return;
    evidence.as_a.push_back(absl::StrCat(key, "=", in_a));
    evidence.as_b.push_back(absl::StrCat(key, "=", in_b));
  };
  both("batch.micro", of_a.batch.micro, of_b.batch.micro);
  const auto word = [](bool on) { return on ? "true" : "false"; };
  both("train.recompute", std::string(word(of_a.train.recompute)),
       std::string(word(of_b.train.recompute)));
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
  for (const auto& [step, state] : other)
    evidence.checkpoints_b.push_back(step);
  for (const auto& [step, state] : one) {
    evidence.checkpoints_a.push_back(step);
    const auto match = other.find(step);
    if (match == other.end()) continue;
    if (match->second != state) {
      if (evidence.different_checkpoint == 0) {
        evidence.different_checkpoint = step;
      }
      continue;
    }
    evidence.equal_checkpoints.push_back(step);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ResumedBefore(FileSystem& fs, const std::string& run,
                                   int64_t step) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run));
  return std::any_of(
      ledger.entries.begin(), ledger.entries.end(), [&](const auto& entry) {
        return (entry.event == "resume" || entry.event == "fork") &&
               entry.Field("step") == std::to_string(step - 1);
      });
}

}  // namespace

bool Evidence::Explained() const {
  return std::any_of(differences.begin(), differences.end(),
                     [](const BisectDifference& d) { return d.explains; });
}

bool Evidence::GrewApart() const {
  return different_checkpoint != 0 && step == different_checkpoint + 1 &&
         step == std::max(first_a, first_b);
}

bool Evidence::ReadOtherSamples() const {
  for (const char* field : {"fingerprint.data", "sample_first", "sample_last",
                            "samples_seen", "tokens_seen"}) {
    if (Differs(field)) return true;
  }
  return false;
}

bool Evidence::Differs(const std::string& field) const {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

int64_t Evidence::Start() const {
  int64_t start = 0;
  const int64_t before = FirstTraced() - 1;
  for (const int64_t checkpoint : equal_checkpoints) {
    if (checkpoint <= before) start = checkpoint;
  }
  return start;
}

int64_t Evidence::FirstTraced() const {
  const bool alone = !replicas || after_load_a || after_load_b;
  return alone ? step : std::max({step - 1, first_a, first_b, int64_t{1}});
}

absl::StatusOr<Evidence> GatherEvidence(FileSystem& fs, const std::string& a,
                                        const std::string& b) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, a));
  LS_RETURN_IF_ERROR(CheckRunExists(fs, b));
  LS_ASSIGN_OR_RETURN(const MetricsParting metrics,
                      CompareMetricLines(fs, JoinPath(a, "metrics.jsonl"),
                                         JoinPath(b, "metrics.jsonl")));
  Evidence evidence = {.first_a = metrics.first_a,
                       .last_a = metrics.last_a,
                       .first_b = metrics.first_b,
                       .last_b = metrics.last_b,
                       .step = metrics.step,
                       .fields = metrics.fields};
  LS_ASSIGN_OR_RETURN(evidence.stop_a, ReadRecordedStop(fs, a));
  LS_ASSIGN_OR_RETURN(evidence.stop_b, ReadRecordedStop(fs, b));
  if (evidence.step == 0 && metrics.compared == 0 &&
      RefusedStep(metrics, evidence) == 0) {
    return InputError("the runs have no step in common",
                      absl::StrCat(a, ", ", b),
                      "name two runs that have both done a step");
  }
  LS_RETURN_IF_ERROR(FindCheckpoints(fs, a, b, evidence));
  if (evidence.step == 0) {
    LS_RETURN_IF_ERROR(FindHiddenStep(fs, a, b, metrics, evidence));
  }
  for (const int64_t checkpoint : evidence.equal_checkpoints) {
    if (checkpoint < evidence.step) evidence.equal_checkpoint = checkpoint;
  }
  if (evidence.step == 0) return evidence;
  LS_RETURN_IF_ERROR(TakeDifferences(fs, a, b, evidence));
  LS_RETURN_IF_ERROR(TakeEvents(fs, a, b, evidence));
  LS_ASSIGN_OR_RETURN(evidence.after_load_a,
                      ResumedBefore(fs, a, evidence.step));
  LS_ASSIGN_OR_RETURN(evidence.after_load_b,
                      ResumedBefore(fs, b, evidence.step));
  return evidence;
}

}  // namespace lockstep
