#include "tools/bisect/traced_replay.h"

#include <memory>
#include <mutex>
#include <utility>

#include "determinism/status.h"
#include "tools/bisect/asked_replay.h"
#include "tools/window_traces.h"

namespace lockstep {
namespace {

// What all ranks had before the step and after it, and read in it, each its
// own samples.
class SideKeeper {
 public:
  void TakeState(int rank, Stepper& stepper) { Take(rank, stepper, state_); }
  void TakeAfter(int rank, Stepper& stepper) { Take(rank, stepper, after_); }
  void TakeTokens(const Stepper& stepper) {
    const StepSamples& samples = stepper.last_samples();
    if (samples.ids.empty()) return;
    const size_t length = samples.tokens_ST1.size() / samples.ids.size();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < samples.ids.size(); ++i) {
      const auto begin =
          samples.tokens_ST1.begin() + static_cast<ptrdiff_t>(i * length);
      tokens_[samples.ids[i]] = {begin, begin + static_cast<ptrdiff_t>(length)};
    }
    TakeNext(stepper, samples.ids.back() + 1, length);
  }
  std::map<uint64_t, std::vector<int32_t>> Tokens() {
    return std::move(tokens_);
  }
  RanksState State() { return std::move(state_); }
  RanksState After() { return std::move(after_); }

 private:
  void Take(int rank, Stepper& stepper, RanksState& states) {
    auto state = StateTensorFingerprints(stepper.registry(), kSavedState);
    const std::lock_guard<std::mutex> lock(mutex_);
    states[rank] = std::move(state);
  }

  // What a cursor that slipped by one reads last; there may be no such sample.
  void TakeNext(const Stepper& stepper, uint64_t sample, size_t length) {
    std::vector<int32_t> tokens(length);
    std::vector<uint8_t> mask(length - 1);
    const auto read = stepper.dataset().TrainSample(
        sample,
        RowsOfSample(0, static_cast<int64_t>(length) - 1, tokens, mask, {}));
    if (read.ok()) tokens_.try_emplace(sample, std::move(tokens));
  }

  std::mutex mutex_;  // guards what follows
  std::map<uint64_t, std::vector<int32_t>> tokens_;
  RanksState state_, after_;
};

absl::StatusOr<ReplayedSide> ReplayHere(FileSystem& fs,
                                        const SideOptions& options) {
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WindowTraces> traces,
                      WindowTraces::Make(fs, options.traces, TraceOf(options)));
  WindowVisitor visitor = traces->Visitor();
  SideKeeper keeper;
  const auto begin = visitor.begin;
  visitor.begin = [&](int rank, Stepper& stepper) {
    keeper.TakeState(rank, stepper);
    return begin(rank, stepper);
  };
  const auto record = visitor.step;
  visitor.step = [&](int rank, Stepper& stepper, const ReplayedStep& step) {
    keeper.TakeTokens(stepper);
    if (step.report.step == options.step) keeper.TakeAfter(rank, stepper);
    if (step.report.step == options.step - 1) keeper.TakeState(rank, stepper);
    return record(rank, stepper, step);
  };
  LS_ASSIGN_OR_RETURN(
      const ReplayedWindow window,
      ReplayWindow(fs, options.run, WindowOf(options), visitor));
  LS_RETURN_IF_ERROR(traces->Close());
  ReplayedSide side = {.recurs = true,
                       .began_at = window.began_at,
                       .tokens = keeper.Tokens(),
                       .state = keeper.State(),
                       .after = keeper.After(),
                       .notes = window.notes};
  for (const ReplayedStep& step : window.steps) {
    side.recurs &= step.recurs();
    side.fields.insert(side.fields.end(), step.differences.begin(),
                       step.differences.end());
  }
  return side;
}

}  // namespace

WindowOptions WindowOf(const SideOptions& options) {
  return {.from = options.FirstTraced(),
          .to = options.step,
          .checkpoint_at_most = options.checkpoint_at_most,
          .from_seed = options.from_seed,
          .sets = options.sets,
          .threads = options.threads,
          .may_stop = true};
}

TraceOptions TraceOf(const SideOptions& options) {
  TraceOptions trace;
  trace.level = TraceLevel::kOperation;
  trace.first_step = options.FirstTraced();
  trace.last_step = options.step;
  trace.inputs = options.bytes_of.empty();
  trace.scope = options.bytes_of;
  if (!options.bytes_of.empty()) trace.values = TraceValues::kBytes;
  return trace;
}

absl::StatusOr<ReplayedSide> TracedReplay(FileSystem& fs,
                                          const SideOptions& options) {
  return options.binary.empty() ? ReplayHere(fs, options) : AskReplay(options);
}

}  // namespace lockstep
