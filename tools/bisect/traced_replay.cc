#include "tools/bisect/traced_replay.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/bisect/commands.h"
#include "tools/window_traces.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

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
  TraceOptions trace;
  trace.level = TraceLevel::kOperation;
  trace.first_step = trace.last_step = options.step;
  trace.inputs = true;
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WindowTraces> traces,
                      WindowTraces::Make(fs, options.traces, trace));
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
  return ReplayedSide{.recurs = window.steps[0].recurs(),
                      .fields = window.steps[0].differences,
                      .began_at = window.began_at,
                      .tokens = keeper.Tokens(),
                      .state = keeper.State(),
                      .notes = window.notes};
}

absl::Status NoAnswer(const std::string& command, int status) {
  return InputError(absl::StrCat("the program that made the run gave no answer "
                                 "to a replay (status ",
                                 status, ")"),
                    command, "give one that has the verb `replay`");
}

// Status 1 is a verdict too.
absl::StatusOr<ReplayedSide> ReplayThere(const SideOptions& options) {
  std::string command = absl::StrCat(
      ShellWord(options.binary), " replay ", ShellWord(options.run), " --from ",
      options.step, " --to ", options.step, " --trace ",
      ShellWord(options.traces), " --json");
  if (options.from_seed) command += " --from-seed";
  if (options.threads > 0) {
    absl::StrAppend(&command, " --threads ", options.threads);
  }
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return NoAnswer(command, -1);
  std::string text;
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    text.append(buffer, n);
  }
  const int status = pclose(pipe);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("steps") ||
      json["steps"].size() != 1) {
    return NoAnswer(command, status);
  }
  const Json& step = json["steps"][0];
  return ReplayedSide{.recurs = step["recurs"],
                      .fields = step["differences"],
                      .began_at = json["began_at"],
                      .notes = json["notes"]};
}

}  // namespace

WindowOptions WindowOf(const SideOptions& options) {
  return {.from = options.step,
          .to = options.step,
          .checkpoint_at_most = options.checkpoint_at_most,
          .from_seed = options.from_seed,
          .threads = options.threads};
}

absl::StatusOr<ReplayedSide> TracedReplay(FileSystem& fs,
                                          const SideOptions& options) {
  return options.binary.empty() ? ReplayHere(fs, options)
                                : ReplayThere(options);
}

}  // namespace lockstep
