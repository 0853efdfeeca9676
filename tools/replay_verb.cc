// `lockstep replay`: steps of a run done again and judged (tools/replay/).
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/launches.h"
#include "tools/replay/judgement.h"
#include "tools/replay/remedy.h"
#include "tools/replay/window_samples.h"
#include "tools/replay/witness.h"
#include "tools/replay_window.h"
#include "tools/run_faults.h"
#include "tools/scratch_folder.h"
#include "tools/stored_run.h"
#include "tools/trace_scopes.h"
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
                                  const ReplayVerbOptions& options,
                                  const Remedy& remedy) {
  if (!remedy.skips.empty()) return false;
  LS_ASSIGN_OR_RETURN(const Manifest manifest,
                      ManifestOfStep(fs, options.run_dir, options.from));
  if (manifest.guarantee < Guarantee::kBitwise) return false;
  for (const std::string& set : remedy.sets) {
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
  LS_ASSIGN_OR_RETURN(const RecordedStop stop,
                      ReadRecordedStop(fs, options.run_dir));
  const int64_t last = std::max(steps.last(), stop.step);
  if (options.to <= last) return absl::OkStatus();
  LS_RETURN_IF_ERROR(steps.CheckLines());
  return InputError(
      absl::StrCat("the run has not done step ", options.to), options.run_dir,
      last == 0 ? "wait for its first step"
                : absl::StrCat("name steps from its first to ", last));
}

// One invocation: what it replays, and with what.
class Replay {
 public:
  Replay(FileSystem& fs, const ReplayVerbOptions& options)
      : fs_(fs), options_(options) {}

  absl::Status Open() {
    ReplayOptions start = {.before = options_.from, .sets = options_.sets};
    start.from_seed = options_.from_seed;
    // Which samples are replayed hangs on which checkpoint can be loaded.
    if (!options_.skip_samples.empty() || !options_.without.empty()) {
      LS_ASSIGN_OR_RETURN(start.checkpoint_at_most,
                          WhereReplayBegins(fs_, options_.run_dir, Window()));
    }
    LS_ASSIGN_OR_RETURN(source_,
                        ReplaySource::Open(fs_, options_.run_dir, start));
    LS_ASSIGN_OR_RETURN(judgement_.remedy,
                        PlanRemedy(*source_,
                                   {options_.sets, options_.skip_samples,
                                    options_.without, options_.lr},
                                   options_.to));
    return absl::OkStatus();
  }

  absl::StatusOr<ReplayJudgement> Judge() {
    const Remedy remedy = judgement_.remedy;
    LS_ASSIGN_OR_RETURN(const bool promised,
                        BitsPromised(fs_, options_, remedy));
    WindowSamples samples(source_->dataset());
    LS_ASSIGN_OR_RETURN(const ReplayedWindow once, Traced(samples));
    judgement_ =
        JudgeWindow(once, source_->recorded(), LossTolerance(once.storage));
    judgement_.remedy = remedy;
    judgement_.promised = promised;
    AddNotes(remedy.notes);
    AddNotes(TraceScopeNotes(options_.trace_scope,
                             source_->config().model.Layers().size()));
    LS_ASSIGN_OR_RETURN(
        const auto faults,
        FaultNotes(fs_, options_.run_dir, options_.from, options_.to));
    AddNotes(faults);
    auto ranked = samples.Ranked();
    for (JudgedStep& step : judgement_.steps) {
      step.samples = std::move(ranked[step.step]);
    }
    if (promised && judgement_.verdict != ReplayVerdict::kRecursToTheBit) {
      LS_RETURN_IF_ERROR(AskWitnesses(once));
    }
    return std::move(judgement_);
  }

  SampleNames Names() const { return NamesOf(source_->dataset()); }

 private:
  WindowOptions Window() const {
    return {.from = options_.from,
            .to = options_.to,
            .from_seed = options_.from_seed,
            .sets = judgement_.remedy.sets,
            .skips = judgement_.remedy.skips,
            .threads = options_.threads,
            .swap_ranks = options_.swap_ranks,
            .may_stop = true};
  }

  absl::StatusOr<ReplayedWindow> Traced(WindowSamples& samples) {
    LS_ASSIGN_OR_RETURN(const TraceOptions trace, TraceOf(options_));
    LS_ASSIGN_OR_RETURN(const std::unique_ptr<WindowTraces> traces,
                        WindowTraces::Make(fs_, options_.trace, trace));
    LS_ASSIGN_OR_RETURN(ReplayedWindow window,
                        ReplayWindow(fs_, options_.run_dir, Window(),
                                     samples.Watching(traces->Visitor())));
    LS_RETURN_IF_ERROR(traces->Close());
    return window;
  }

  absl::Status AskWitnesses(const ReplayedWindow& once) {
    ScratchFolder scratch;
    LS_RETURN_IF_ERROR(scratch.Make("", {}));
    const auto replay = [&](const WindowOptions& window,
                            const WindowVisitor& visitor) {
      return ReplayWindow(fs_, options_.run_dir, window, visitor);
    };
    LS_ASSIGN_OR_RETURN(
        judgement_.witness,
        AskAgain(fs_, replay, Window(), once,
                 {.run_dir = options_.run_dir,
                  .scratch = scratch.PathOf(""),
                  .layouts_agree = source_->manifest().guarantee ==
                                   Guarantee::kLayoutInvariant}));
    AddNotes(judgement_.witness->notes);
    return absl::OkStatus();
  }

  void AddNotes(const std::vector<std::string>& notes) {
    judgement_.notes.insert(judgement_.notes.end(), notes.begin(), notes.end());
  }

  FileSystem& fs_;
  const ReplayVerbOptions& options_;
  std::unique_ptr<ReplaySource> source_;
  ReplayJudgement judgement_;
};

}  // namespace

absl::StatusOr<Answer> ReplayVerb(const ReplayVerbOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_RETURN_IF_ERROR(CheckWindow(fs, options));
  Replay replay(fs, options);
  LS_RETURN_IF_ERROR(replay.Open());
  LS_ASSIGN_OR_RETURN(const ReplayJudgement judgement, replay.Judge());
  const bool good = judgement.verdict == ReplayVerdict::kRecursToTheBit ||
                    (judgement.verdict == ReplayVerdict::kRecursInValue &&
                     !judgement.promised);
  return Answer{options.json
                    ? ReplayJson(judgement, replay.Names(), options.full)
                    : ReplayText(judgement, options.full),
                !good};
}

}  // namespace lockstep
