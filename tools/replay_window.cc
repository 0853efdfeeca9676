#include "tools/replay_window.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/config_layout.h"
#include "tools/launches.h"
#include "tools/rank_cores.h"
#include "tools/replay_faults.h"

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

  // `window`: of the first rank, else null.
  absl::Status Run(ReplayedWindow* window) {
    LS_RETURN_IF_ERROR(MakeStepper());
    LS_RETURN_IF_ERROR(source_.Restore(*stepper_, options_.skips));
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

// A window is done with one recipe, that of its first step.
absl::Status NoteLaterRecipe(FileSystem& fs, const std::string& run_dir,
                             const WindowOptions& options,
                             std::vector<std::string>& notes) {
  LS_ASSIGN_OR_RETURN(const auto launch, LaunchOfStep(fs, run_dir, options.to));
  if (!launch || launch->since < options.from) return absl::OkStatus();
  notes.push_back(
      absl::StrCat("steps ", launch->since + 1, " to ", options.to,
                   " were made with another recipe than step ", options.from,
                   ", with which they are done here; ask for them from step ",
                   launch->since + 1, " on"));
  return absl::OkStatus();
}

std::string LayoutText(const Manifest& manifest) {
  return absl::StrCat(manifest.layout.world,
                      " rank(s): data=", manifest.layout.data,
                      ", tensor=", manifest.layout.tensor,
                      ", pipeline=", manifest.layout.pipeline);
}

// And on one layout, its first step's; what acted on ranks of another does not
// come back there.
absl::Status NoteLaterLayout(FileSystem& fs, const std::string& run_dir,
                             const WindowOptions& options,
                             const Manifest& manifest, ReplayedWindow& window) {
  LS_ASSIGN_OR_RETURN(const auto later, NextLayout(fs, run_dir, manifest,
                                                   options.from, options.to));
  if (!later) return absl::OkStatus();
  window.other_layout_from = later->since + 1;
  window.notes.push_back(absl::StrCat(
      "steps from ", later->since + 1, " on were made on another layout (",
      LayoutText(later->manifest), ") than step ", options.from, " (",
      LayoutText(manifest), "), on which all are done here; ask for them from ",
      "step ", later->since + 1, " on"));
  return absl::OkStatus();
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
  LS_ASSIGN_OR_RETURN(
      const std::unique_ptr<ReplaySource> source,
      ReplaySource::Open(fs, run_dir,
                         {.before = options.from,
                          .checkpoint_at_most = options.checkpoint_at_most,
                          .from_seed = options.from_seed,
                          .sets = options.sets}));
  const int ranks = MeshShapeOf(source->config()).world();
  LS_ASSIGN_OR_RETURN(Machine machine, ChooseMachine(options.threads));
  if (options.threads == 0)
    machine.threads = std::max(machine.threads / ranks, 1);
  ReplayedWindow window = {.began_at = source->began_at(),
                           .ranks = ranks,
                           .storage = source->config().precision.storage(),
                           .notes = source->notes()};
  LS_RETURN_IF_ERROR(NoteLaterRecipe(fs, run_dir, options, window.notes));
  LS_RETURN_IF_ERROR(
      NoteLaterLayout(fs, run_dir, options, source->manifest(), window));
  LS_RETURN_IF_ERROR(RunThreadRanks(ranks, [&](Communicator& world) {
    WindowRank rank(*source, options, machine, visitor, world);
    return rank.Run(world.rank() == 0 ? &window : nullptr);
  }));
  return window;
}

}  // namespace lockstep
