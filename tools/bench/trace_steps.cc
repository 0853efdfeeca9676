#include "tools/bench/trace_steps.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/clock.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/bench/bench_stepper.h"
#include "tools/stepper.h"
#include "tools/tax/tax_numbers.h"
#include "tools/trace_loop.h"

namespace lockstep {
namespace {

constexpr int64_t kRounds = 5;

std::string NameOfCase(TraceLevel level) {
  return absl::StrCat("step, level ", NameOf(level));
}

// Hands on to whatever trace is on.
class Switch : public OperationObserver {
 public:
  void OnOperation(const OperationEvent& event) override {
    if (on != nullptr) on->OnOperation(event);
  }
  TraceWriter* on = nullptr;
};

// Steps with and without a trace in turns: what disturbs the machine for longer
// than a step meets both sides of a ratio, and what is shorter is outvoted.
class Rounds {
 public:
  Rounds(Stepper& stepper, std::string folder, std::vector<TraceLevel> levels)
      : stepper_(stepper), folder_(std::move(folder)) {
    for (const TraceLevel level : levels) measured_.push_back({.level = level});
    stepper_.AddTracer(&trace_);
  }

  // One step before, which touches all memory. Every other round goes through
  // the levels backwards.
  absl::Status Run(int64_t rounds) {
    LS_RETURN_IF_ERROR(Step(nullptr).status());
    LS_ASSIGN_OR_RETURN(double before, Step(nullptr));
    for (int64_t round = 0; round < rounds; ++round) {
      for (Measured& one : measured_) {
        LS_ASSIGN_OR_RETURN(const double traced, Traced(one.level));
        LS_ASSIGN_OR_RETURN(const double after, Step(nullptr));
        one.traced.push_back(traced);
        one.plain.push_back((before + after) / 2);
        before = after;
      }
      std::reverse(measured_.begin(), measured_.end());
    }
    return absl::OkStatus();
  }

  std::vector<BenchCase> Cases(int threads) {
    std::sort(measured_.begin(), measured_.end(),
              [](const auto& a, const auto& b) { return a.level < b.level; });
    std::vector<BenchCase> cases;
    for (const Measured& one : measured_) {
      const TaxInterval price = TaxOf(one.traced, one.plain);
      cases.push_back({.name = NameOfCase(one.level),
                       .threads = threads,
                       .rate = MedianOf(one.traced),
                       .unit = "s/step",
                       .probe = MedianOf(one.plain),
                       .ratio = 1 + price.tax,
                       .ratio_low = 1 + price.low,
                       .ratio_high = 1 + price.high});
    }
    return cases;
  }

 private:
  struct Measured {
    TraceLevel level = {};
    std::vector<double> traced = {};
    std::vector<double> plain = {};  // of the steps before and behind
  };

  absl::StatusOr<double> Traced(TraceLevel level) {
    LS_ASSIGN_OR_RETURN(
        const std::unique_ptr<TraceWriter> writer,
        TraceWriter::Open(*PosixFileSystem(),
                          absl::StrFormat("%s/%d.trace", folder_, files_++), 0,
                          {.level = level,
                           .inputs = true,
                           .loop = TraceLoopOn(stepper_.device())}));
    LS_ASSIGN_OR_RETURN(const double seconds, Step(writer.get()));
    LS_RETURN_IF_ERROR(writer->Close());
    return seconds;
  }

  // With what the loop does for a trace after a step.
  absl::StatusOr<double> Step(TraceWriter* trace) {
    trace_.on = trace;
    RealClock clock;
    const int64_t start = clock.MonotonicNanos();
    LS_ASSIGN_OR_RETURN(const StepReport report, stepper_.Step());
    if (trace != nullptr) {
      LS_RETURN_IF_ERROR(
          trace->RecordFields(report.step, 0, report.fingerprint));
    }
    return static_cast<double>(clock.MonotonicNanos() - start) * 1e-9;
  }

  Stepper& stepper_;
  const std::string folder_;
  int files_ = 0;
  Switch trace_;
  std::vector<Measured> measured_;
};

}  // namespace

absl::StatusOr<std::vector<BenchCase>> TraceStepCases(
    const BenchOptions& options, const std::string& scratch) {
  std::vector<TraceLevel> levels;
  for (const TraceLevel level : {TraceLevel::kPhase, TraceLevel::kModule,
                                 TraceLevel::kOperation, TraceLevel::kKernel}) {
    if (absl::StrContains(NameOfCase(level), options.only)) {
      levels.push_back(level);
    }
  }
  if (levels.empty()) return std::vector<BenchCase>();
  const ScopedFloatEnv float_env;
  LS_ASSIGN_OR_RETURN(const auto made, MakeBenchStepper(options, scratch, {}));
  LS_RETURN_IF_ERROR(PosixFileSystem()->MakeDirs(scratch + "/traces"));
  Rounds rounds(*made->stepper, scratch + "/traces", std::move(levels));
  LS_RETURN_IF_ERROR(rounds.Run(options.rounds > 0 ? options.rounds : kRounds));
  return rounds.Cases(made->machine.threads);
}

}  // namespace lockstep
