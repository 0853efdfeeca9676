// `lockstep replay`: a window of a run's steps, done again and judged.
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/launches.h"
#include "tools/replay_judgement.h"
#include "tools/replay_window.h"
#include "tools/stored_run.h"
#include "tools/trace_verbs.h"
#include "tools/trained_model.h"
#include "tools/verbs.h"
#include "tools/window_traces.h"

namespace lockstep {
namespace {

absl::StatusOr<TraceOptions> TraceOf(const ReplayVerbOptions& options) {
  TraceOptions trace;
  LS_ASSIGN_OR_RETURN(trace.level, TraceLevelFromName(options.trace_level));
  trace.first_step = options.from;
  trace.last_step = options.to;
  trace.scope = options.trace_scope;
  trace.inputs = true;
  LS_ASSIGN_OR_RETURN(trace.values, TraceValuesFromName(options.trace_values));
  return trace;
}

bool SetsLayout(const std::string& set) {
  return set.starts_with("parallel.") || set.starts_with("batch.micro=") ||
         set.starts_with("train.recompute=");
}

// Whether the replay must come to the run's bits.
absl::StatusOr<bool> BitsPromised(FileSystem& fs,
                                  const ReplayVerbOptions& options) {
  if (!options.skip_samples.empty()) return false;
  LS_ASSIGN_OR_RETURN(const Manifest manifest,
                      ManifestOfStep(fs, options.run_dir, options.from));
  if (manifest.guarantee < Guarantee::kBitwise) return false;
  for (const std::string& set : options.sets) {
    if (!SetsLayout(set)) return false;
    if (set.starts_with("parallel.") &&
        manifest.guarantee != Guarantee::kLayoutInvariant) {
      return false;
    }
  }
  return true;
}

absl::Status CheckWindow(FileSystem& fs, const ReplayVerbOptions& options) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, options.run_dir));
  LS_ASSIGN_OR_RETURN(const RecordedSteps steps,
                      RecordedSteps::Read(fs, options.run_dir));
  if (options.to < options.from) {
    return InputError(
        absl::StrCat("no steps from ", options.from, " to ", options.to),
        "--from, --to", "name a last step that is not before the first");
  }
  if (options.to <= steps.last()) return absl::OkStatus();
  return InputError(
      absl::StrCat("the run has not done step ", options.to), options.run_dir,
      steps.last() == 0
          ? "wait for its first step"
          : absl::StrCat("name steps from its first to ", steps.last()));
}

absl::StatusOr<ReplayJudgement> Judge(FileSystem& fs,
                                      const ReplayVerbOptions& options,
                                      const WindowOptions& window) {
  LS_ASSIGN_OR_RETURN(const bool promised, BitsPromised(fs, options));
  LS_ASSIGN_OR_RETURN(const TraceOptions trace, TraceOf(options));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WindowTraces> traces,
                      WindowTraces::Make(fs, options.trace, trace));
  LS_ASSIGN_OR_RETURN(
      const ReplayedWindow once,
      ReplayWindow(fs, options.run_dir, window, traces->Visitor()));
  LS_RETURN_IF_ERROR(traces->Close());
  LS_ASSIGN_OR_RETURN(const RecordedSteps recorded,
                      RecordedSteps::Read(fs, options.run_dir));
  ReplayJudgement judgement =
      JudgeWindow(once, recorded, LossTolerance(once.storage));
  judgement.promised = promised;
  if (!promised || judgement.verdict == ReplayVerdict::kRecursToTheBit) {
    return judgement;
  }
  // The same again, in other places: is it this machine?
  WindowOptions again = window;
  again.swap_ranks =
      !window.swap_ranks &&
      std::thread::hardware_concurrency() >= static_cast<unsigned>(once.ranks);
  LS_ASSIGN_OR_RETURN(const ReplayedWindow twice,
                      ReplayWindow(fs, options.run_dir, again));
  judgement.parted_at = WherePart(once, twice);
  judgement.repeatable = judgement.parted_at == 0;
  return judgement;
}

}  // namespace

absl::StatusOr<Answer> ReplayVerb(const ReplayVerbOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_RETURN_IF_ERROR(CheckWindow(fs, options));
  LS_ASSIGN_OR_RETURN(const auto skips, ParseSkipRanges(options.skip_samples));
  const WindowOptions window = {.from = options.from,
                                .to = options.to,
                                .from_seed = options.from_seed,
                                .sets = options.sets,
                                .skips = skips,
                                .threads = options.threads,
                                .swap_ranks = options.swap_ranks};
  LS_ASSIGN_OR_RETURN(const ReplayJudgement judgement,
                      Judge(fs, options, window));
  const bool good = judgement.verdict == ReplayVerdict::kRecursToTheBit ||
                    (judgement.verdict == ReplayVerdict::kRecursInValue &&
                     !judgement.promised);
  return Answer{options.json ? ReplayJson(judgement) : ReplayText(judgement),
                !good};
}

}  // namespace lockstep
