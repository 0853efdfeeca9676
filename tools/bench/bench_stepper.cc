#include "tools/bench/bench_stepper.h"

#include <utility>

#include "determinism/file_system.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/bench/scratch.h"

namespace lockstep {
namespace {

constexpr uint64_t kTextBytes = uint64_t{4} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<BenchStepper>> MakeBenchStepper(
    const BenchOptions& options, const std::string& folder,
    const std::vector<std::string>& sets) {
  FileSystem& fs = *PosixFileSystem();
  const std::string text = folder + "/text", dir = folder + "/run";
  LS_RETURN_IF_ERROR(WriteBenchText(fs, text, kTextBytes));
  std::vector<std::string> all = BenchTextSets(text);
  all.insert(all.end(), sets.begin(), sets.end());
  all.insert(all.end(), options.sets.begin(), options.sets.end());
  LS_ASSIGN_OR_RETURN(ResolvedRun run,
                      ResolveRun(fs, options.recipe, all, dir));
  auto made = std::make_unique<BenchStepper>(std::move(run));
  const RunConfig& c = made->run.config;
  LS_ASSIGN_OR_RETURN(made->dataset,
                      Dataset::Open(fs, c.data, dir, c.seed, c.model.vocab));
  LS_ASSIGN_OR_RETURN(made->machine,
                      ChooseMachine(static_cast<int>(options.threads)));
  made->communicator = std::move(MakeThreadComms(1).front());
  made->stepper = std::make_unique<Stepper>(
      c,
      StepperOptions{made->machine.threads, made->machine.isa,
                     made->run.schedule_length_samples},
      made->dataset.get(), LayoutOfOne(made->communicator.get()), nullptr);
  LS_RETURN_IF_ERROR(made->stepper->Initialise());
  LS_RETURN_IF_ERROR(made->stepper->RestoreRuntime());
  return made;
}

}  // namespace lockstep
