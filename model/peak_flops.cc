#include "model/peak_flops.h"

#include <algorithm>
#include <chrono>

#include "determinism/check.h"
#include "model/kernels/registry.h"

namespace lockstep {

namespace scalar {
float RunFmaChains(int64_t iterations);
}
namespace avx2 {
float RunFmaChains(int64_t iterations);
}
namespace avx512 {
float RunFmaChains(int64_t iterations);
}

namespace {

constexpr double kFlopsPerIteration = 12.0 * 16.0 * 2.0;

double SecondsFor(Device& device, int64_t iterations) {
  const auto variants =
      LS_KERNEL_VARIANTS(RunFmaChains, "peak_flops", "no sum");
  const auto run = variants.For(device.isa());
  const auto start = std::chrono::steady_clock::now();
  device.threads().ParallelFor(
      device.threads().threads(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          LS_CHECK(run(iterations) > 0.0f) << "an FMA chain lost its value";
        }
      });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

double MeasurePeakFlops(Device& device) {
  constexpr int kRepetitions = 5;
  constexpr double kSecondsEach = 0.008;
  int64_t iterations = 1 << 10;
  while (SecondsFor(device, iterations) < kSecondsEach) iterations *= 2;
  double best = SecondsFor(device, iterations);
  for (int i = 1; i < kRepetitions; ++i) {
    best = std::min(best, SecondsFor(device, iterations));
  }
  return kFlopsPerIteration * static_cast<double>(iterations) *
         device.threads().threads() / best;
}

}  // namespace lockstep
