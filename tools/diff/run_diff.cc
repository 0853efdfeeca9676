#include "tools/diff/run_diff.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest_compare.h"
#include "determinism/status.h"
#include "tools/stored_run.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

// On which rung a difference has to be judged: the runs promise equal bits to
// each other only if both do, and on other layouts only on the highest.
Guarantee RungOf(const Manifest& a, const Manifest& b) {
  const bool invariant = a.guarantee == Guarantee::kLayoutInvariant &&
                         b.guarantee == Guarantee::kLayoutInvariant;
  return invariant ? Guarantee::kLayoutInvariant : Guarantee::kBitwise;
}

void DiffManifests(const Manifest& a, const Manifest& b, RunDiff& diff) {
  for (ManifestDifference& d : CompareManifests(a, b, RungOf(a, b))) {
    diff.manifest.push_back({.key = std::move(d.key),
                             .a = std::move(d.saved),
                             .b = std::move(d.current),
                             .explains = d.verdict != Verdict::kHarmless,
                             .why = std::move(d.why)});
  }
  for (const Manifest* manifest : {&a, &b}) {
    if (manifest->guarantee >= Guarantee::kBitwise) continue;
    if (manifest->layout.world == 1) continue;
    diff.manifest.push_back(
        {.key = "guarantee",
         .a = NameOf(a.guarantee),
         .b = NameOf(b.guarantee),
         .explains = true,
         .why = "below bitwise, sums over ranks are taken as they arrive"});
    return;
  }
}

std::vector<LineageEvent> Without(const std::vector<LineageEvent>& events,
                                  const std::vector<LineageEvent>& others) {
  std::vector<LineageEvent> rest;
  for (const LineageEvent& event : events) {
    if (std::count(others.begin(), others.end(), event) == 0) {
      rest.push_back(event);
    }
  }
  return rest;
}

absl::Status DiffEvents(FileSystem& fs, RunDiff& diff) {
  LS_ASSIGN_OR_RETURN(const auto a, LineageEvents(fs, diff.run_a));
  LS_ASSIGN_OR_RETURN(const auto b, LineageEvents(fs, diff.run_b));
  diff.only_a = Without(a, b);
  diff.only_b = Without(b, a);
  return absl::OkStatus();
}

// The state that the last fresh launch began with.
absl::StatusOr<std::string> StartOf(FileSystem& fs, const std::string& run) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run));
  std::string state;
  for (const LedgerEntry& entry : ledger.entries) {
    if (entry.event == "launch") state = entry.Field("state");
  }
  return state;
}

absl::StatusOr<std::set<int64_t>> CheckpointSteps(FileSystem& fs,
                                                  const std::string& run) {
  std::set<int64_t> steps;
  const std::string dir = CheckpointsDir(run);
  if (!fs.Exists(dir)) return steps;
  LS_ASSIGN_OR_RETURN(const auto names, fs.List(dir));
  for (const std::string& name : names) {
    const int64_t step = StepOfCheckpointName(name);
    if (step >= 0) steps.insert(step);
  }
  return steps;
}

// Looks at a few of the checkpoints that both have: runs that have parted stay
// apart, so the border is found by halves.
class CheckpointSearch {
 public:
  CheckpointSearch(FileSystem& fs, RunDiff& diff) : fs_(fs), diff_(diff) {}

  absl::Status Run() {
    LS_ASSIGN_OR_RETURN(const auto a, CheckpointSteps(fs_, diff_.run_a));
    LS_ASSIGN_OR_RETURN(const auto b, CheckpointSteps(fs_, diff_.run_b));
    std::vector<int64_t> steps;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                          std::back_inserter(steps));
    size_t low = 0, high = steps.size();  // equal below low, not from high on
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      LS_ASSIGN_OR_RETURN(const bool equal, IsEqual(steps[middle]));
      (equal ? low : high) = equal ? middle + 1 : middle;
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<bool> IsEqual(int64_t step) {
    SharedCheckpoint pair = {.step = step,
                             .a = Folder(diff_.run_a, step),
                             .b = Folder(diff_.run_b, step),
                             .state = ""};
    // A damaged index is one that is not equal; `ckpt verify` says more.
    const auto a = ReadIndex(fs_, pair.a);
    const auto b = ReadIndex(fs_, pair.b);
    const bool equal =
        a.ok() && b.ok() && a->state_fingerprint == b->state_fingerprint;
    if (equal) pair.state = a->state_fingerprint;
    (equal ? diff_.last_equal : diff_.first_different) = pair;
    return equal;
  }

  static std::string Folder(const std::string& run, int64_t step) {
    return JoinPath(CheckpointsDir(run), CheckpointName(step));
  }

  FileSystem& fs_;
  RunDiff& diff_;
};

// A fork begins behind its parent's step, any other run at 1.
bool BeginsWhereItMay(int64_t first, const Manifest& manifest) {
  return first == 0 || first == manifest.parent.step + 1;
}

}  // namespace

absl::StatusOr<RunDiff> DiffRuns(FileSystem& fs, const std::string& run_a,
                                 const std::string& run_b) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, run_a));
  LS_RETURN_IF_ERROR(CheckRunExists(fs, run_b));
  RunDiff diff;
  diff.run_a = run_a;
  diff.run_b = run_b;
  LS_ASSIGN_OR_RETURN(diff.metrics,
                      CompareMetricLines(fs, run_a + "/metrics.jsonl",
                                         run_b + "/metrics.jsonl"));
  const MetricsParting& m = diff.metrics;
  const int64_t step =
      std::max<int64_t>(m.step != 0 ? m.step : std::min(m.last_a, m.last_b), 1);
  LS_ASSIGN_OR_RETURN(const Manifest a, ManifestOfStep(fs, run_a, step));
  LS_ASSIGN_OR_RETURN(const Manifest b, ManifestOfStep(fs, run_b, step));
  DiffManifests(a, b, diff);
  LS_RETURN_IF_ERROR(DiffEvents(fs, diff));
  LS_ASSIGN_OR_RETURN(diff.start_a, StartOf(fs, run_a));
  LS_ASSIGN_OR_RETURN(diff.start_b, StartOf(fs, run_b));
  LS_RETURN_IF_ERROR(CheckpointSearch(fs, diff).Run());
  const bool whole =
      BeginsWhereItMay(m.first_a, a) && BeginsWhereItMay(m.first_b, b);
  diff.equal = m.compared > 0 && m.step == 0 && m.missing == 0 &&
               m.last_a == m.last_b && whole && diff.first_different.step == 0;
  diff.reading = ReadingOfRuns(diff, whole);
  return diff;
}

}  // namespace lockstep
