#include "tools/bisect/fix_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bench/scratch.h"
#include "tools/bisect/evidence.h"
#include "tools/bisect/traced_replay.h"
#include "tools/diff/metric_lines.h"
#include "tools/foreign_json.h"
#include "tools/stored_run.h"

namespace lockstep {
namespace {

// Of all steps but a launch's first, which also warms up.
absl::Status AddStepTimes(FileSystem& fs, const std::string& run,
                          std::vector<double>& times) {
  LS_ASSIGN_OR_RETURN(LineReader lines,
                      LineReader::Open(fs, JoinPath(run, "metrics.jsonl")));
  for (bool first = true;; first = false) {
    LS_ASSIGN_OR_RETURN(const auto line, lines.Next());
    if (!line) return absl::OkStatus();
    const auto time = NumberField(ParseForeign(*line), "step_ms");
    if (!first && time) times.push_back(*time);
  }
}

absl::StatusOr<StepTimes> TimesOf(FileSystem& fs, const std::string& one,
                                  const std::string& other) {
  std::vector<double> times;
  LS_RETURN_IF_ERROR(AddStepTimes(fs, one, times));
  LS_RETURN_IF_ERROR(AddStepTimes(fs, other, times));
  if (times.empty()) return StepTimes{};
  std::sort(times.begin(), times.end());
  return StepTimes{.median_ms = times[times.size() / 2],
                   .least_ms = times.front(),
                   .most_ms = times.back(),
                   .steps = static_cast<int64_t>(times.size())};
}

bool SamePlace(const OperationIdentity& a, const OperationIdentity& b) {
  return a.phase == b.phase && a.scope == b.scope && a.operation == b.operation;
}

class Checker {
 public:
  Checker(FileSystem& fs, const FixOptions& options, const BisectResult& old)
      : fs_(fs), options_(options), old_(old) {
    check_.c = options.c;
    check_.d = options.d;
  }

  absl::StatusOr<FixCheck> Run() {
    LS_ASSIGN_OR_RETURN(const Evidence evidence,
                        GatherEvidence(fs_, options_.c, options_.d));
    check_.new_step =
        evidence.step != 0 ? evidence.step : evidence.different_checkpoint;
    if (evidence.stopped_a() && evidence.stopped_b() &&
        evidence.stop_a.why == evidence.stop_b.why) {
      check_.new_step = evidence.different_checkpoint;
      check_.notes.push_back(
          absl::StrCat("step ", evidence.step,
                       " stopped both new runs alike: ", evidence.stop_a.why));
    }
    check_.new_steps = std::min(evidence.last_a, evidence.last_b);
    LS_RETURN_IF_ERROR(ComparePrograms());
    LS_RETURN_IF_ERROR(TakeCost());
    if (old_.equal()) return Is("old_pair_is_equal");
    if (check_.new_step != 0) return Is("not_fixed");
    if (check_.new_steps < old_.step) return Is("not_enough");
    if (evidence.missing_step != 0) {
      check_.notes.push_back(absl::StrCat("the new runs do not both have step ",
                                          evidence.missing_step, " on record"));
    }
    LS_RETURN_IF_ERROR(LookForOperation());
    if (!check_.executed) return Is("equal");
    return Is(*check_.executed ? "fixed" : "routed_around");
  }

 private:
  FixCheck Is(const char* verdict) {
    check_.verdict = verdict;
    return std::move(check_);
  }

  absl::Status ComparePrograms() {
    LS_ASSIGN_OR_RETURN(const Manifest old,
                        ManifestOfStep(fs_, old_.a.path, 1));
    LS_ASSIGN_OR_RETURN(const Manifest now, ManifestOfStep(fs_, options_.c, 1));
    check_.same_program = old.code.binary_sha256 == now.code.binary_sha256;
    if (check_.same_program && !now.code.binary_sha256.empty()) {
      check_.notes.push_back(
          "the new runs were made by the same program as the old ones: what "
          "was mended, if anything, is what it was given");
    }
    if (old.recipe.trajectory != now.recipe.trajectory) {
      check_.notes.push_back(
          "the new runs have another recipe than the old ones: `lockstep diff` "
          "says in which keys");
    }
    return absl::OkStatus();
  }

  absl::Status TakeCost() {
    LS_ASSIGN_OR_RETURN(check_.old_times,
                        TimesOf(fs_, old_.a.path, old_.b.path));
    LS_ASSIGN_OR_RETURN(check_.new_times, TimesOf(fs_, options_.c, options_.d));
    return absl::OkStatus();
  }

  // In the step of a new run, done again by the program that made it.
  absl::Status LookForOperation() {
    if (!old_.trace || old_.trace->equal()) return absl::OkStatus();
    LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options_.scratch));
    const std::string traces = scratch / "c";
    LS_ASSIGN_OR_RETURN(const ReplayedSide side,
                        TracedReplay(fs_, {.run = options_.c,
                                           .binary = options_.binary,
                                           .traces = traces,
                                           .step = old_.step,
                                           .threads = options_.threads}));
    if (!side.recurs) {
      check_.notes.push_back(
          "the new run does not recur in a replay: name the program that made "
          "it with --binary-fix");
      return absl::OkStatus();
    }
    LS_ASSIGN_OR_RETURN(TraceFolder folder, OpenTraceFolder(fs_, traces));
    check_.executed = false;
    for (const auto& [rank, files] : folder.files) {
      LS_ASSIGN_OR_RETURN(const OperationList operations,
                          OperationsOf(fs_, folder, rank));
      for (const TracedOperation& operation : operations.All()) {
        if (SamePlace(operation.identity, old_.trace->first.identity)) {
          check_.executed = true;
        }
      }
    }
    return absl::OkStatus();
  }

  FileSystem& fs_;
  const FixOptions& options_;
  const BisectResult& old_;
  FixCheck check_;
};

}  // namespace

std::optional<double> FixCheck::cost() const {
  if (old_times.median_ms <= 0 || new_times.median_ms <= 0) return std::nullopt;
  return new_times.median_ms / old_times.median_ms - 1;
}

bool FixCheck::cost_shown() const {
  return cost().has_value() && (old_times.most_ms < new_times.least_ms ||
                                new_times.most_ms < old_times.least_ms);
}

absl::StatusOr<FixCheck> CheckFix(FileSystem& fs, const FixOptions& options,
                                  const BisectResult& old_pair) {
  return Checker(fs, options, old_pair).Run();
}

}  // namespace lockstep
