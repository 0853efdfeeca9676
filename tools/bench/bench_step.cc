#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "determinism/clock.h"
#include "determinism/float_env.h"
#include "determinism/state.h"
#include "determinism/status.h"
#include "model/kernels/register_peak.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/bench/benches.h"
#include "tools/bench/in_turns.h"
#include "tools/bench/scratch.h"
#include "tools/bench/step_cases.h"
#include "tools/bench/step_profile.h"
#include "tools/run_setup.h"
#include "tools/step_fingerprint.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

constexpr int64_t kRounds = 2;
constexpr uint64_t kTextBytes = uint64_t{4} << 20;

// What metrics.fingerprints costs behind the update; that of the gradients is
// a third of it more, and counts for the optimizer's first operation.
absl::StatusOr<double> FingerprintSeconds(Communicator& world,
                                          const StateRegistry& registry) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {
    std::map<std::string, std::string> fields;
    absl::Status status;
    best = std::min(best, SecondsOf([&] {
                      status = AddStateFields(world, registry, fields);
                    }));
    LS_RETURN_IF_ERROR(status);
  }
  return best;
}

// One step before, which touches all memory; the quickest of the rest counts.
absl::StatusOr<StepMeasure> Measure(Communicator& world, Stepper& stepper,
                                    int64_t rounds) {
  RealClock clock;
  StepProfile profile(stepper.device(), clock);
  stepper.AddObserver(&profile);
  StepMeasure best;
  for (int64_t round = -1; round < rounds; ++round) {
    if (round >= 0) {
      best.peak = std::max(best.peak, MeasureRegisterPeak(stepper.device()));
    }
    profile.Begin();
    LS_RETURN_IF_ERROR(stepper.Step().status());
    const StepTimes times = profile.End();
    if (round <= 0 || times.seconds < best.times.seconds) best.times = times;
  }
  best.peak = std::max(best.peak, MeasureRegisterPeak(stepper.device()));
  best.peak_bytes = stepper.device().peak_bytes();
  LS_ASSIGN_OR_RETURN(best.fingerprint_seconds,
                      FingerprintSeconds(world, stepper.registry()));
  return best;
}

absl::StatusOr<std::vector<BenchCase>> Steps(const ResolvedRun& run,
                                             const Dataset& dataset,
                                             const BenchOptions& options,
                                             int threads,
                                             int64_t recipe_samples) {
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(threads));
  const auto communicator = std::move(MakeThreadComms(1).front());
  Stepper stepper(run.config,
                  {machine.threads, machine.isa, run.schedule_length_samples},
                  &dataset, LayoutOfOne(communicator.get()), nullptr);
  {
    const ScopedFloatEnv float_env;
    LS_RETURN_IF_ERROR(stepper.Initialise());
    LS_RETURN_IF_ERROR(stepper.RestoreRuntime());
  }
  LS_ASSIGN_OR_RETURN(const StepMeasure best,
                      Measure(*communicator, stepper,
                              options.rounds > 0 ? options.rounds : kRounds));
  return StepCases(run.config, best, threads, recipe_samples);
}

// The recipe on text of this bench's own, one micro-batch a step unless
// `options.sets` says otherwise.
absl::StatusOr<ResolvedRun> Resolve(FileSystem& fs, const BenchOptions& options,
                                    const Scratch& scratch, int64_t micro) {
  std::vector<std::string> sets = BenchTextSets(scratch / "text");
  if (micro > 0) sets.push_back(absl::StrCat("batch.global=", micro));
  sets.insert(sets.end(), options.sets.begin(), options.sets.end());
  return ResolveRun(fs, options.recipe, sets, scratch / "run");
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchStep(const BenchOptions& options) {
  if (!options.peer.empty()) {
    return InputError("bench step has no peer", "--peer " + options.peer,
                      "leave it out");
  }
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  LS_RETURN_IF_ERROR(WriteBenchText(fs, scratch / "text", kTextBytes));
  LS_ASSIGN_OR_RETURN(const ResolvedRun whole,
                      Resolve(fs, options, scratch, 0));
  LS_ASSIGN_OR_RETURN(const ResolvedRun run,
                      Resolve(fs, options, scratch, whole.config.batch.micro));
  const RunConfig& c = run.config;
  LS_ASSIGN_OR_RETURN(
      const auto dataset,
      Dataset::Open(fs, c.data, scratch / "run", c.seed, c.model.vocab));
  std::vector<BenchCase> cases;
  for (int threads = 1; threads <= std::min<int64_t>(2, options.threads);
       ++threads) {
    LS_ASSIGN_OR_RETURN(
        const std::vector<BenchCase> some,
        Steps(run, *dataset, options, threads, whole.config.batch.global));
    for (const BenchCase& one : some) {
      if (absl::StrContains(one.name, options.only)) cases.push_back(one);
    }
  }
  return cases;
}

}  // namespace lockstep
