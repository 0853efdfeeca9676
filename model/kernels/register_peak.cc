#include "model/kernels/register_peak.h"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/kernels/register_peak_kernel.h"

namespace lockstep {
namespace {

constexpr int kTrials = 5;
constexpr double kTrialSeconds = 4e-3;

struct alignas(64) ThreadSlot {
  float sink[16];
  int64_t flops;
};

using PeakFunction = void (*)(int64_t rounds, float* sink, int64_t* flops);

PeakFunction PeakOf(Isa isa, DType operands) {
  if (isa == Isa::kAmx && operands == DType::kBF16) {
    return &amx::RegisterTileProducts;
  }
  return LS_KERNEL_VARIANTS(RegisterFmas, "register_peak", "").For(isa);
}

// As bench gemm times its products: on one thread the time that the thread
// had, so that rate and peak are of one clock.
double Now(bool of_thread) {
  timespec time{};
  clock_gettime(of_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

// One trial on all threads; seconds taken.
double Trial(Device& device, PeakFunction fmas, int64_t rounds,
             std::vector<ThreadSlot>& slots) {
  const bool of_thread = device.threads().threads() == 1;
  const double start = Now(of_thread);
  device.threads().ParallelFor(static_cast<int64_t>(slots.size()),
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t i = begin; i < end; ++i) {
                                   fmas(rounds, slots[i].sink, &slots[i].flops);
                                 }
                               });
  return std::max(Now(of_thread) - start, 1e-9);
}

}  // namespace

double MeasureRegisterPeak(Device& device, DType operands) {
  const PeakFunction fmas = PeakOf(device.isa(), operands);
  std::vector<ThreadSlot> slots(device.threads().threads());
  int64_t rounds = 1000;
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double seconds = Trial(device, fmas, rounds, slots);
    int64_t flops = 0;
    for (const ThreadSlot& slot : slots) flops += slot.flops;
    best = std::max(best, static_cast<double>(flops) / seconds);
    rounds = std::max<int64_t>(
        1000, static_cast<int64_t>(static_cast<double>(rounds) *
                                   std::min(100.0, kTrialSeconds / seconds)));
  }
  return best;
}

}  // namespace lockstep
