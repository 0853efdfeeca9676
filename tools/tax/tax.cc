#include "tools/tax/tax.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "data/dataset.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/bench/scratch.h"
#include "tools/config_layout.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"
#include "tools/tax/tax_meter.h"

namespace lockstep {
namespace {

constexpr uint64_t kTextBytes = uint64_t{4} << 20;
constexpr int kConfigurations = 3;
const std::vector<std::string> kSets[kConfigurations] = {
    {"guarantee=statistical", "metrics.fingerprints=false"},
    {"guarantee=bitwise", "metrics.fingerprints=true"},
    {"guarantee=layout_invariant", "metrics.fingerprints=true"}};

// Of all rounds, [configuration][part][round], in seconds.
using Series =
    std::array<std::array<std::vector<double>, kTaxPlaces>, kConfigurations>;

// What one rank has of one configuration.
class Contestant {
 public:
  static absl::StatusOr<std::unique_ptr<Contestant>> Make(
      const ResolvedRun& run, const Machine& machine, const Dataset& dataset,
      Communicator& world) {
    LS_ASSIGN_OR_RETURN(auto groups, MakeLayout(&world, run.config));
    std::unique_ptr<Contestant> one(
        new Contestant(run, machine, dataset, std::move(groups)));
    const ScopedFloatEnv float_env;
    LS_RETURN_IF_ERROR(one->stepper_.Initialise());
    return one;
  }

  // All ranks begin together.
  absl::StatusOr<TaxTimes> Step(Communicator& world) {
    LS_RETURN_IF_ERROR(world.Barrier());
    meter_.Begin();
    LS_RETURN_IF_ERROR(stepper_.Step().status());
    return meter_.End();
  }
  int64_t peak_bytes() { return stepper_.device().peak_bytes(); }

 private:
  Contestant(const ResolvedRun& run, const Machine& machine,
             const Dataset& dataset, std::unique_ptr<LayoutGroups> groups)
      : groups_(std::move(groups)),
        meter_(clock_),
        stepper_(run.config,
                 {machine.threads, machine.isa, run.schedule_length_samples},
                 &dataset, groups_->layout, nullptr) {
    stepper_.AddObserver(&meter_);
    stepper_.WatchParts([this](StepPart part) { meter_.Ended(part); });
  }

  RealClock clock_;
  const std::unique_ptr<LayoutGroups> groups_;
  TaxMeter meter_;
  Stepper stepper_;
};

// Each round has another one begin: what a step leaves in the caches meets all
// alike. A step before, which touches all memory and finds the first grid.
absl::Status RunRounds(Communicator& world, int64_t rounds,
                       std::span<const std::unique_ptr<Contestant>> all,
                       Series& series) {
  for (const auto& one : all) LS_RETURN_IF_ERROR(one->Step(world).status());
  for (int64_t round = 0; round < rounds; ++round) {
    for (int turn = 0; turn < kConfigurations; ++turn) {
      const auto at = static_cast<size_t>((round + turn) % kConfigurations);
      LS_ASSIGN_OR_RETURN(TaxTimes times, all[at]->Step(world));
      LS_RETURN_IF_ERROR(world.AllReduceSum(std::span(times)));
      if (world.rank() != 0) continue;
      for (size_t part = 0; part < kTaxPlaces; ++part) {
        series[at][part].push_back(static_cast<double>(times[part]) * 1e-9 /
                                   world.size());
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunRank(Communicator& world, std::span<const ResolvedRun> runs,
                     const Machine& machine, const Dataset& dataset,
                     int64_t rounds, Series& series,
                     std::vector<int64_t>& peak_bytes) {
  std::vector<std::unique_ptr<Contestant>> all;
  for (const ResolvedRun& run : runs) {
    LS_ASSIGN_OR_RETURN(all.emplace_back(),
                        Contestant::Make(run, machine, dataset, world));
  }
  LS_RETURN_IF_ERROR(RunRounds(world, rounds, all, series));
  std::vector<int64_t> peaks;
  for (const auto& one : all) peaks.push_back(one->peak_bytes());
  LS_RETURN_IF_ERROR(world.AllReduceMax(std::span<int64_t>(peaks)));
  if (world.rank() == 0) peak_bytes = peaks;
  return absl::OkStatus();
}

std::vector<TaxPart> PartsOf(const Series& series) {
  // Not bound as [fast, bitwise, invariant]: Clang 14 lets no lambda see those.
  const auto& fast = series[0];
  const auto& bitwise = series[1];
  const auto& invariant = series[2];
  const std::vector<double>& step = fast[static_cast<size_t>(TaxPlace::kStep)];
  std::vector<TaxPart> parts;
  for (size_t i = 0; i < kTaxPlaces; ++i) {
    TaxPart part = {.name = NameOf(static_cast<TaxPlace>(i)),
                    .fast_seconds = MedianOf(fast[i])};
    part.share = part.fast_seconds / MedianOf(step);
    // Of fingerprints there are none to compare with.
    const bool own = static_cast<TaxPlace>(i) != TaxPlace::kFingerprints;
    const auto tax = [&](const std::vector<double>& times) {
      return own ? TaxOf(times, fast[i]) : TaxOfStep(times, fast[i], step);
    };
    part.bitwise = tax(bitwise[i]);
    part.layout_invariant = tax(invariant[i]);
    parts.push_back(part);
  }
  return parts;
}

absl::StatusOr<std::vector<ResolvedRun>> Resolve(const TaxOptions& options,
                                                 const Scratch& scratch) {
  std::vector<ResolvedRun> runs;
  for (const std::vector<std::string>& own : kSets) {
    std::vector<std::string> sets = BenchTextSets(scratch / "text");
    sets.insert(sets.end(), options.sets.begin(), options.sets.end());
    sets.insert(sets.end(), own.begin(), own.end());
    LS_ASSIGN_OR_RETURN(
        ResolvedRun run,
        ResolveLayout(*PosixFileSystem(), options.recipe, sets, scratch / "run",
                      nullptr, static_cast<int>(options.ranks), false));
    LS_RETURN_IF_ERROR(CheckRunnable(run.config, options.ranks));
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

absl::StatusOr<TaxReport> MeasureTax(const TaxOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  LS_RETURN_IF_ERROR(WriteBenchText(fs, scratch / "text", kTextBytes));
  LS_ASSIGN_OR_RETURN(const std::vector<ResolvedRun> runs,
                      Resolve(options, scratch));
  const RunConfig& c = runs[0].config;
  LS_ASSIGN_OR_RETURN(
      const auto dataset,
      Dataset::Open(fs, c.data, scratch / "run", c.seed, c.model.vocab));
  LS_ASSIGN_OR_RETURN(Machine machine, ChooseMachine(options.threads));
  const auto ranks = static_cast<int>(options.ranks);
  if (options.threads == 0) {
    machine.threads = std::max(machine.threads / ranks, 1);
  }
  TaxReport report = {.ranks = options.ranks,
                      .threads = machine.threads,
                      .pairs = options.rounds,
                      .samples = c.batches.At(0)};
  Series series;
  LS_RETURN_IF_ERROR(RunThreadRanks(ranks, [&](Communicator& world) {
    return RunRank(world, runs, machine, *dataset, options.rounds, series,
                   report.peak_bytes);
  }));
  report.parts = PartsOf(series);
  return report;
}

}  // namespace lockstep
