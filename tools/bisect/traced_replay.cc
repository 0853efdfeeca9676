#include "tools/bisect/traced_replay.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/sealed_json.h"
#include "determinism/status.h"
#include "tools/bisect/commands.h"
#include "tools/foreign_json.h"
#include "tools/window_traces.h"

namespace lockstep {
namespace {

int64_t FirstTraced(const SideOptions& options) {
  return options.traced_from > 0 ? options.traced_from : options.step;
}

// What all ranks had before the step, and read in it, each its own samples.
class SideKeeper {
 public:
  void TakeState(int rank, Stepper& stepper) {
    auto state = StateTensorFingerprints(stepper.registry(), kSavedState);
    const std::lock_guard<std::mutex> lock(mutex_);
    state_[rank] = std::move(state);
  }
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
  }
  std::map<uint64_t, std::vector<int32_t>> Tokens() {
    return std::move(tokens_);
  }
  RanksState State() { return std::move(state_); }

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::vector<int32_t>> tokens_;
  RanksState state_;
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
                       .notes = window.notes};
  for (const ReplayedStep& step : window.steps) {
    side.recurs &= step.recurs();
    side.fields.insert(side.fields.end(), step.differences.begin(),
                       step.differences.end());
  }
  return side;
}

absl::Status NoAnswer(const std::string& command, const std::string& why) {
  return InputError(
      "the program that made the run gave no answer to a "
      "replay: " +
          why,
      command, "give one that has the verb `replay`");
}

// Status 1 is a verdict too.
absl::StatusOr<ReplayedSide> ReplayThere(const SideOptions& options) {
  std::string command = absl::StrCat(
      ShellWord(options.binary), " replay ", ShellWord(options.run), " --from ",
      FirstTraced(options), " --to ", options.step, " --trace ",
      ShellWord(options.traces), " --json");
  if (!options.bytes_of.empty()) {
    absl::StrAppend(&command, " --trace-values bytes --trace-scope ",
                    ShellWord(options.bytes_of));
  }
  if (options.from_seed) command += " --from-seed";
  if (options.threads > 0) {
    absl::StrAppend(&command, " --threads ", options.threads);
  }
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return NoAnswer(command, "it cannot be started");
  std::string text;
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    text.append(buffer, n);
  }
  const int status = pclose(pipe);
  const auto steps =
      static_cast<size_t>(options.step - FirstTraced(options) + 1);
  auto side = ReadReplayAnswer(text, steps);
  if (side.ok()) return side;
  return NoAnswer(
      command, absl::StrCat(side.status().message(), " (status ", status, ")"));
}

}  // namespace

absl::StatusOr<ReplayedSide> ReadReplayAnswer(const std::string& text,
                                              size_t steps_asked) {
  const auto json = ParseForeign<OrderedJson>(text);
  ReplayedSide side;
  JsonFields answer(json, "what it wrote");
  answer.Get("began_at", side.began_at);
  answer.Get("notes", side.notes);
  const OrderedJson& steps = answer.Array("steps");
  if (steps.size() != steps_asked) {
    answer.Complain("has another number of steps");
  }
  if (!answer.ok()) return absl::InvalidArgumentError(answer.error());
  side.recurs = true;
  for (const OrderedJson& one : steps) {
    JsonFields step(one, "its step");
    bool recurs = false;
    std::vector<std::string> fields;
    step.Get("recurs", recurs);
    step.Get("differences", fields);
    if (!step.ok()) return absl::InvalidArgumentError(step.error());
    side.recurs &= recurs;
    side.fields.insert(side.fields.end(), fields.begin(), fields.end());
  }
  return side;
}

WindowOptions WindowOf(const SideOptions& options) {
  return {.from = FirstTraced(options),
          .to = options.step,
          .checkpoint_at_most = options.checkpoint_at_most,
          .from_seed = options.from_seed,
          .threads = options.threads};
}

TraceOptions TraceOf(const SideOptions& options) {
  TraceOptions trace;
  trace.level = TraceLevel::kOperation;
  trace.first_step = FirstTraced(options);
  trace.last_step = options.step;
  trace.inputs = options.bytes_of.empty();
  trace.scope = options.bytes_of;
  if (!options.bytes_of.empty()) trace.values = TraceValues::kBytes;
  return trace;
}

absl::StatusOr<ReplayedSide> TracedReplay(FileSystem& fs,
                                          const SideOptions& options) {
  return options.binary.empty() ? ReplayHere(fs, options)
                                : ReplayThere(options);
}

}  // namespace lockstep
