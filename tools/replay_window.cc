#include "tools/replay_window.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/config_layout.h"
#include "tools/rank_cores.h"
#include "tools/replay_faults.h"
#include "tools/window_notes.h"

namespace lockstep {
namespace {

// One rank's part.
class WindowRank {
 public:
  WindowRank(const ReplaySource& source, const WindowOptions& options,
             const Machine& machine, const WindowVisitor& visitor,
             Communicator& world)
      : source_(source),
        options_(options),
        machine_(machine),
        visitor_(visitor),
        world_(world),
        faults_(source.FaultsOf(world.rank())) {}

  // `unfit` becomes true where every rank's load failed.
  absl::Status Begin(std::atomic<bool>& unfit) {
    LS_RETURN_IF_ERROR(MakeStepper());
    const absl::Status restored = source_.Restore(*stepper_, options_.skips);
    if (absl::IsDataLoss(restored)) unfit = true;
    return restored;
  }

  // What the first rank finds goes to `found`.
  absl::Status Run(ReplayedWindow& found) {
    ReplayedWindow* const window = world_.rank() == 0 ? &found : nullptr;
    while (Next() < options_.from) {
      LS_ASSIGN_OR_RETURN(const ReplayedStep step, Step(window));
      if (visitor_.before) {
        LS_RETURN_IF_ERROR(visitor_.before(world_.rank(), *stepper_, step));
      }
    }
    if (visitor_.begin) {
      LS_RETURN_IF_ERROR(visitor_.begin(world_.rank(), *stepper_));
    }
    bool stopped = false;
    while (!stopped && Next() <= options_.to) {
      LS_ASSIGN_OR_RETURN(ReplayedStep step, Step(window));
      stopped = !step.stopped.empty();
      if (visitor_.step) {
        LS_RETURN_IF_ERROR(visitor_.step(world_.rank(), *stepper_, step));
      }
      if (window != nullptr) window->steps.push_back(std::move(step));
    }
    return absl::OkStatus();
  }

 private:
  int64_t Next() const {
    return static_cast<int64_t>(stepper_->state().iterations) + 1;
  }

  absl::Status MakeStepper() {
    if (options_.swap_ranks) {
      LS_RETURN_IF_ERROR(
          StandOnCores(world_.size() - 1 - world_.rank(), world_.size()));
    }
    const RunConfig& c = source_.config();
    LS_ASSIGN_OR_RETURN(groups_, MakeLayout(&world_, c));
    stepper_ = std::make_unique<Stepper>(
        c,
        StepperOptions{machine_.threads, machine_.isa,
                       source_.manifest().schedule_length_samples},
        &source_.dataset(), groups_->layout, &faults_->plan);
    return absl::OkStatus();
  }

  absl::StatusOr<ReplayedStep> Step(ReplayedWindow* window) {
    const int64_t next = Next();
    absl::StatusOr<StepReport> report = stepper_->Step();
    const bool may_stop = options_.may_stop && next >= options_.from &&
                          absl::IsOutOfRange(report.status());
    if (!report.ok() && !may_stop) return report.status();
    ReplayedStep step = may_stop ? source_.CompareStop(next, report.status())
                                 : source_.Compare(*std::move(report));
    if (window != nullptr && !step.differences.empty() &&
        window->first_difference == 0) {
      window->first_difference = step.report.step;
    }
    return step;
  }

  const ReplaySource& source_;
  const WindowOptions& options_;
  const Machine machine_;
  const WindowVisitor& visitor_;
  Communicator& world_;
  const std::unique_ptr<ReplaySource::Faults> faults_;
  std::unique_ptr<LayoutGroups> groups_;
  std::unique_ptr<Stepper> stepper_;
};

struct Place {
  std::unique_ptr<ReplaySource> source;
  int ranks = 1;
  Machine machine;
};

absl::StatusOr<Place> OpenPlace(FileSystem& fs, const std::string& run_dir,
                                const WindowOptions& options) {
  Place place;
  ReplayOptions start = {.before = options.from, .sets = options.sets};
  start.checkpoint_at_most = options.checkpoint_at_most;
  start.from_seed = options.from_seed;
  LS_ASSIGN_OR_RETURN(place.source, ReplaySource::Open(fs, run_dir, start));
  place.ranks = MeshShapeOf(place.source->config()).world();
  LS_ASSIGN_OR_RETURN(place.machine, ChooseMachine(options.threads));
  if (options.threads == 0) {
    place.machine.threads = std::max(place.machine.threads / place.ranks, 1);
  }
  return place;
}

// `body` on each rank, where stepping begins. After a checkpoint that no rank
// can load, from an older one.
absl::Status FromStart(const Place& place, const WindowOptions& options,
                       const WindowVisitor& visitor,
                       const std::function<absl::Status(WindowRank&)>& body) {
  while (true) {
    std::atomic<bool> unfit = false;
    const absl::Status done =
        RunThreadRanks(place.ranks, [&](Communicator& world) {
          WindowRank rank(*place.source, options, place.machine, visitor,
                          world);
          LS_RETURN_IF_ERROR(rank.Begin(unfit));
          return body(rank);
        });
    if (!unfit || !absl::IsDataLoss(done)) return done;
    LS_RETURN_IF_ERROR(place.source->PassOver(done));
  }
}

}  // namespace

absl::StatusOr<ReplayedWindow> ReplayWindow(FileSystem& fs,
                                            const std::string& run_dir,
                                            const WindowOptions& options,
                                            const WindowVisitor& visitor) {
  if (options.to < options.from) {
    return InputError(
        absl::StrCat("no steps from ", options.from, " to ", options.to),
        run_dir, "name a first step that is not after the last");
  }
  LS_ASSIGN_OR_RETURN(const Place place, OpenPlace(fs, run_dir, options));
  const ReplaySource& source = *place.source;
  ReplayedWindow window = {.ranks = place.ranks,
                           .storage = source.config().precision.storage()};
  LS_RETURN_IF_ERROR(
      NoteLaterLaunches(fs, run_dir, options, source.manifest(), window));
  LS_RETURN_IF_ERROR(FromStart(place, options, visitor, [&](WindowRank& rank) {
    return rank.Run(window);
  }));
  window.began_at = source.began_at();
  const auto& notes = source.notes();
  window.notes.insert(window.notes.begin(), notes.begin(), notes.end());
  return window;
}

absl::StatusOr<int64_t> WhereReplayBegins(FileSystem& fs,
                                          const std::string& run_dir,
                                          const WindowOptions& options) {
  LS_ASSIGN_OR_RETURN(const Place place, OpenPlace(fs, run_dir, options));
  LS_RETURN_IF_ERROR(FromStart(place, options, {},
                               [](WindowRank&) { return absl::OkStatus(); }));
  return place.source->began_at();
}

}  // namespace lockstep
