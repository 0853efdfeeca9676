#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/bench/benches.h"
#include "tools/bench/checkpoint_cases.h"
#include "tools/bench/scratch.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

constexpr uint64_t kTextBytes = uint64_t{4} << 20;

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchCheckpoint(
    const BenchOptions& options) {
  if (!options.peer.empty()) {
    return InputError("bench checkpoint has no peer", "--peer " + options.peer,
                      "leave it out");
  }
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  LS_RETURN_IF_ERROR(WriteBenchText(fs, scratch / "text", kTextBytes));
  std::vector<std::string> sets = BenchTextSets(scratch / "text");
  sets.insert(sets.end(), {"batch.global=1", "batch.micro=1"});
  sets.insert(sets.end(), options.sets.begin(), options.sets.end());
  LS_ASSIGN_OR_RETURN(const ResolvedRun run,
                      ResolveRun(fs, options.recipe, sets, scratch / "run"));
  const RunConfig& c = run.config;
  LS_ASSIGN_OR_RETURN(
      const auto dataset,
      Dataset::Open(fs, c.data, scratch / "run", c.seed, c.model.vocab));
  LS_ASSIGN_OR_RETURN(const Machine machine,
                      ChooseMachine(static_cast<int>(options.threads)));
  const auto communicator = std::move(MakeThreadComms(1).front());
  Stepper stepper(run.config,
                  {machine.threads, machine.isa, run.schedule_length_samples},
                  dataset.get(), LayoutOfOne(communicator.get()), nullptr);
  const ScopedFloatEnv float_env;
  LS_RETURN_IF_ERROR(stepper.Initialise());
  LS_RETURN_IF_ERROR(stepper.RestoreRuntime());
  LS_RETURN_IF_ERROR(fs.MakeDirs(scratch / "run"));
  return CheckpointCases(stepper, scratch / "run", options);
}

}  // namespace lockstep
