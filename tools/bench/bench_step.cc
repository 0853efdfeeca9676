#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "determinism/clock.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "model/kernels/register_peak.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/bench/benches.h"
#include "tools/bench/memory_rate.h"
#include "tools/bench/peer_step.h"
#include "tools/bench/scratch.h"
#include "tools/bench/step_cases.h"
#include "tools/bench/step_profile.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {
namespace {

constexpr int64_t kRounds = 2;
constexpr uint64_t kTextBytes = uint64_t{4} << 20;

absl::StatusOr<StepTimes> TimesOfStep(Stepper& stepper, StepProfile& profile,
                                      bool fingerprints) {
  stepper.SetFingerprints(fingerprints);
  profile.Begin();
  LS_RETURN_IF_ERROR(stepper.Step().status());
  return profile.End();
}

void MeasureProbes(Stepper& stepper, StepMeasure& best) {
  Device& device = stepper.device();
  const DType storage = stepper.config().precision.storage();
  best.peak = std::max(best.peak, MeasureRegisterPeak(device, storage));
  best.fma_peak =
      std::max(best.fma_peak, MeasureRegisterPeak(device, DType::kF32));
  best.memory = std::max(best.memory, MeasureMemoryRate(device));
}

// One step before, which touches all memory; the quickest of the rest counts.
// Fingerprints are taken on the way from gradients to weights, so what they
// cost is by how much that is longer than in a step without them.
//
// A peer has its turn behind each step with fingerprints.
absl::StatusOr<StepMeasure> Measure(Stepper& stepper, PeerStep* peer,
                                    int64_t rounds) {
  RealClock clock;
  StepProfile profile(stepper.device(), clock);
  stepper.AddObserver(&profile);
  stepper.WatchParts([&](StepPart part) { profile.Ended(part); });
  StepMeasure best;
  double tail = 0, tail_without = 0;
  for (int64_t round = -1; round < rounds; ++round) {
    MeasureProbes(stepper, best);
    LS_ASSIGN_OR_RETURN(const StepTimes times,
                        TimesOfStep(stepper, profile, true));
    const bool first = round <= 0;
    if (first || times.seconds < best.times.seconds) best.times = times;
    if (first || times.tail < tail) tail = times.tail;
    if (peer != nullptr) {
      LS_ASSIGN_OR_RETURN(const double seconds, peer->Seconds());
      if (round >= 0) best.peer_seconds.push_back(seconds);
      if (round >= 0) best.peer_ratios.push_back(seconds / times.seconds);
    }
    if (round < 0) continue;
    LS_ASSIGN_OR_RETURN(const StepTimes without,
                        TimesOfStep(stepper, profile, false));
    if (first || without.tail < tail_without) tail_without = without.tail;
  }
  MeasureProbes(stepper, best);
  best.peak_bytes = stepper.device().peak_bytes();
  best.fingerprint_seconds = tail - tail_without;
  if (peer != nullptr) best.peer = peer->name();
  stepper.WatchParts({});
  return best;
}

absl::StatusOr<std::vector<BenchCase>> Steps(
    const ResolvedRun& run, const Dataset& dataset, const BenchOptions& options,
    const std::string& shape_path, int threads, int64_t recipe_samples) {
  std::unique_ptr<PeerStep> peer;
  if (!options.peer.empty()) {
    LS_ASSIGN_OR_RETURN(peer,
                        PeerStep::Start(options.peer, shape_path, threads));
  }
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
                      Measure(stepper, peer.get(),
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

// One rank is measured.
absl::Status RefuseLayout(const RunConfig& config) {
  const auto& cut = config.parallel;
  if (cut.world() == 1) return absl::OkStatus();
  return InputError(
      "bench step measures one rank, and this recipe is cut",
      absl::StrCat("parallel.tensor=", cut.tensor, ", parallel.pipeline=",
                   cut.pipeline, ", parallel.data=", cut.data.value_or(1)),
      "add --set parallel.tensor=1 --set parallel.pipeline=1 --set "
      "parallel.data=1");
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchStep(const BenchOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  LS_RETURN_IF_ERROR(WriteBenchText(fs, scratch / "text", kTextBytes));
  LS_ASSIGN_OR_RETURN(const ResolvedRun whole,
                      Resolve(fs, options, scratch, 0));
  LS_ASSIGN_OR_RETURN(const ResolvedRun run,
                      Resolve(fs, options, scratch, whole.config.batch.micro));
  const RunConfig& c = run.config;
  LS_RETURN_IF_ERROR(RefuseLayout(c));
  LS_ASSIGN_OR_RETURN(
      const auto dataset,
      Dataset::Open(fs, c.data, scratch / "run", c.seed, c.model.vocab));
  const std::string shape_path = scratch / "shape.json";
  LS_RETURN_IF_ERROR(WriteFileAtomically(fs, shape_path, ShapeJson(c)));
  std::vector<BenchCase> cases;
  for (int threads = 1; threads <= std::min<int64_t>(2, options.threads);
       ++threads) {
    LS_ASSIGN_OR_RETURN(const std::vector<BenchCase> some,
                        Steps(run, *dataset, options, shape_path, threads,
                              whole.config.batch.global));
    for (const BenchCase& one : some) {
      if (absl::StrContains(one.name, options.only)) cases.push_back(one);
    }
  }
  return cases;
}

}  // namespace lockstep
