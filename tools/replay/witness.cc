#include "tools/replay/witness.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/metrics.h"
#include "tools/window_traces.h"

namespace lockstep {
namespace {

class Asking {
 public:
  Asking(FileSystem& fs, const Replayer& replay, const WindowOptions& window,
         const ReplayedWindow& once, const WitnessOptions& options)
      : fs_(fs),
        replay_(replay),
        window_(window),
        once_(once),
        options_(options) {}

  absl::StatusOr<Witness> Run() {
    WindowOptions again = window_;
    again.swap_ranks = CanSwap();
    witness_.swapped = again.swap_ranks != window_.swap_ranks;
    LS_ASSIGN_OR_RETURN(const ReplayedWindow twice, replay_(again, {}));
    witness_.parted_at = WherePart(once_, twice);
    if (!witness_.repeatable()) {
      witness_.like_record = LikeRecord(twice);
      LS_RETURN_IF_ERROR(TraceBoth(again));
    } else {
      LS_RETURN_IF_ERROR(AskTheRecord());
      if (options_.layouts_agree) LS_RETURN_IF_ERROR(AskAnotherLayout());
    }
    return std::move(witness_);
  }

 private:
  bool CanSwap() const {
    return !window_.swap_ranks && std::thread::hardware_concurrency() >=
                                      static_cast<unsigned>(once_.ranks);
  }

  // Of the step at which the replays part.
  int LikeRecord(const ReplayedWindow& twice) const {
    for (size_t i = 0; i < once_.steps.size(); ++i) {
      if (once_.steps[i].report.step != witness_.parted_at) continue;
      if (once_.steps[i].recurs()) return 1;
      return twice.steps[i].recurs() ? 2 : 0;
    }
    return 0;
  }

  absl::Status Traced(WindowOptions window, int64_t step,
                      const std::string& name) {
    window.from = window.to = step;
    LS_ASSIGN_OR_RETURN(const std::unique_ptr<WindowTraces> traces,
                        WindowTraces::Make(fs_, PathOf(name),
                                           {.level = TraceLevel::kOperation,
                                            .first_step = step,
                                            .last_step = step,
                                            .inputs = true}));
    LS_RETURN_IF_ERROR(replay_(window, traces->Visitor()).status());
    return traces->Close();
  }

  std::string PathOf(const std::string& name) const {
    return JoinPath(options_.scratch, name);
  }

  absl::Status TraceBoth(const WindowOptions& again) {
    LS_RETURN_IF_ERROR(Traced(window_, witness_.parted_at, "first"));
    LS_RETURN_IF_ERROR(Traced(again, witness_.parted_at, "second"));
    LS_ASSIGN_OR_RETURN(TraceDifference parting,
                        CompareTraces(fs_, PathOf("first"), PathOf("second")));
    if (parting.equal()) {
      witness_.notes.push_back(
          "traced, two more replays came out alike: ask again, with a window "
          "that is longer");
    } else {
      witness_.parting = std::move(parting);
    }
    return absl::OkStatus();
  }

  // What was recorded happened once; a trace that the run left shows where.
  absl::Status AskTheRecord() {
    const auto first =
        std::ranges::find_if(once_.steps, [](const ReplayedStep& step) {
          return step.recorded && !step.recurs();
        });
    if (first == once_.steps.end()) return absl::OkStatus();
    const int64_t step = first->report.step;
    LS_RETURN_IF_ERROR(Traced(window_, step, "replay"));
    auto parting = CompareTraces(fs_, options_.run_dir, PathOf("replay"),
                                 TraceSteps{step, step});
    if (parting.ok() && !parting->equal()) {
      witness_.parting = *std::move(parting);
      witness_.of_record = true;
    } else {
      witness_.notes.push_back(absl::StrCat(
          "the run left no operations' trace of step ", step,
          ", so rank and operation are not known; with trace.level = "
          "\"operation\" it leaves one"));
    }
    return absl::OkStatus();
  }

  absl::Status AskAnotherLayout() {
    WindowOptions other = window_;
    witness_.layout = once_.ranks > 1 ? "one rank" : "data=2";
    for (const char* const set :
         {"parallel.tensor=1", "parallel.pipeline=1", "parallel.sequence=false",
          "parallel.interleave=1"}) {
      if (once_.ranks > 1) other.sets.push_back(set);
    }
    other.sets.push_back(once_.ranks > 1 ? "parallel.data=1"
                                         : "parallel.data=2");
    const absl::StatusOr<ReplayedWindow> third = replay_(other, {});
    if (!third.ok()) {
      witness_.notes.push_back(absl::StrCat(
          "another layout (", witness_.layout,
          ") could not be asked: ", std::string(third.status().message())));
      return absl::OkStatus();
    }
    witness_.layout_agrees = WherePart(once_, *third) == 0;
    return absl::OkStatus();
  }

  FileSystem& fs_;
  const Replayer& replay_;
  const WindowOptions& window_;
  const ReplayedWindow& once_;
  const WitnessOptions& options_;
  Witness witness_;
};

}  // namespace

absl::StatusOr<Witness> AskAgain(FileSystem& fs, const Replayer& replay,
                                 const WindowOptions& window,
                                 const ReplayedWindow& once,
                                 const WitnessOptions& options) {
  return Asking(fs, replay, window, once, options).Run();
}

int64_t WherePart(const ReplayedWindow& a, const ReplayedWindow& b) {
  for (size_t i = 0; i < std::min(a.steps.size(), b.steps.size()); ++i) {
    const StepReport &one = a.steps[i].report, &other = b.steps[i].report;
    StepReport timeless = other;
    timeless.step_ms = one.step_ms;
    timeless.tokens_per_s = one.tokens_per_s;
    timeless.mfu = one.mfu;
    if (a.steps[i].stopped != b.steps[i].stopped ||
        MetricsLine(timeless) != MetricsLine(one)) {
      return one.step;
    }
  }
  return 0;
}

}  // namespace lockstep
