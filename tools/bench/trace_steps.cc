#include "tools/bench/trace_steps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/clock.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/bench/bench_stepper.h"
#include "tools/stepper.h"
#include "tools/trace_loop.h"

namespace lockstep {
namespace {

constexpr int64_t kRounds = 5;
constexpr std::array<TraceLevel, 4> kLevels = {
    TraceLevel::kPhase, TraceLevel::kModule, TraceLevel::kOperation,
    TraceLevel::kKernel};

// Hands on to whatever trace is on.
class Switch : public OperationObserver {
 public:
  void OnOperation(const OperationEvent& event) override {
    if (on != nullptr) on->OnOperation(event);
  }
  TraceWriter* on = nullptr;
};

class Rounds {
 public:
  Rounds(Stepper& stepper, std::string folder)
      : stepper_(stepper), folder_(std::move(folder)) {
    stepper_.AddTracer(&trace_);
  }

  // One step before, which touches all memory.
  absl::Status Run(int64_t rounds) {
    LS_RETURN_IF_ERROR(Step(nullptr).status());
    for (int64_t round = 0; round < rounds; ++round) {
      LS_ASSIGN_OR_RETURN(const double plain, Step(nullptr));
      plain_.push_back(plain);
      for (size_t i = 0; i < kLevels.size(); ++i) {
        LS_ASSIGN_OR_RETURN(const double traced, Traced(kLevels[i]));
        traced_[i].push_back(traced);
      }
    }
    return absl::OkStatus();
  }

  std::vector<BenchCase> Cases(int threads) const {
    std::vector<BenchCase> cases;
    for (size_t i = 0; i < kLevels.size(); ++i) {
      std::vector<double> ratios;
      for (size_t k = 0; k < plain_.size(); ++k) {
        ratios.push_back(traced_[i][k] / plain_[k]);
      }
      cases.push_back(
          {.name = absl::StrCat("step, level ", NameOf(kLevels[i])),
           .threads = threads,
           .rate = Median(traced_[i]),
           .unit = "s/step",
           .probe = Median(plain_),
           .ratio = Median(ratios),
           .ratio_low = *std::min_element(ratios.begin(), ratios.end()),
           .ratio_high = *std::max_element(ratios.begin(), ratios.end())});
    }
    return cases;
  }

 private:
  static double Median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

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
  std::vector<double> plain_;
  std::array<std::vector<double>, kLevels.size()> traced_;
};

}  // namespace

absl::StatusOr<std::vector<BenchCase>> TraceStepCases(
    const BenchOptions& options, const std::string& scratch) {
  const ScopedFloatEnv float_env;
  LS_ASSIGN_OR_RETURN(const auto made, MakeBenchStepper(options, scratch, {}));
  LS_RETURN_IF_ERROR(PosixFileSystem()->MakeDirs(scratch + "/traces"));
  Rounds rounds(*made->stepper, scratch + "/traces");
  LS_RETURN_IF_ERROR(rounds.Run(options.rounds > 0 ? options.rounds : kRounds));
  return rounds.Cases(made->machine.threads);
}

}  // namespace lockstep
