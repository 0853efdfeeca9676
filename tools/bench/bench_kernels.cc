#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "model/kernels/register_peak.h"
#include "tools/bench/benches.h"
#include "tools/bench/in_turns.h"
#include "tools/bench/kernel_work.h"
#include "tools/bench/memory_rate.h"
#include "tools/run_setup.h"

namespace lockstep {
namespace {

constexpr int64_t kRounds = 5;
constexpr double kLeastSeconds = 5e-3;  // of a measurement

// Enough calls at once for the clock, of which the quickest counts. What its
// probe says is taken in the same rounds.
BenchCase Measure(Device& device, const KernelWork& work, int64_t rounds) {
  work.run();
  const double once = std::max(SecondsOf(work.run), 1e-6);
  const int calls = static_cast<int>(std::max(1.0, kLeastSeconds / once));
  double best = 0, probe = 0;
  const auto amount =
      static_cast<double>(work.flops > 0 ? work.flops : work.bytes);
  for (int64_t round = 0; round < rounds; ++round) {
    const double seconds = SecondsOf([&] {
      for (int i = 0; i < calls; ++i) work.run();
    });
    best = std::max(best, calls * amount / seconds);
    probe = std::max(probe, work.flops > 0
                                ? MeasureRegisterPeak(device, DType::kF32)
                                : MeasureMemoryRate(device));
  }
  return {.name = work.name,
          .threads = device.threads().threads(),
          .rate = best,
          .unit = work.flops > 0 ? "FLOP/s" : "B/s",
          .probe = probe,
          .ratio = best / probe};
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchKernels(
    const BenchOptions& options) {
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(options.threads));
  Device device(machine.threads, machine.isa);
  const int64_t rounds = options.rounds > 0 ? options.rounds : kRounds;
  std::vector<BenchCase> cases;
  for (const KernelWorkMaker& maker : AllKernelWork()) {
    if (!absl::StrContains(maker.name, options.only)) continue;
    cases.push_back(Measure(device, maker.make(device), rounds));
  }
  return cases;
}

}  // namespace lockstep
