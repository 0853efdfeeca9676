#include "tools/bench/memory_rate.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

namespace lockstep {
namespace {

constexpr int kTrials = 4;
constexpr size_t kBytes = size_t{128} << 20;
constexpr size_t kPiece = size_t{1} << 20;

}  // namespace

double MeasureMemoryRate(Device& device) {
  std::vector<char> from(kBytes, 1), to(kBytes);
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    device.threads().ParallelFor(
        kBytes / kPiece, [&](int64_t begin, int64_t end) {
          std::memcpy(to.data() + static_cast<size_t>(begin) * kPiece,
                      from.data() + static_cast<size_t>(begin) * kPiece,
                      static_cast<size_t>(end - begin) * kPiece);
        });
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * kBytes / std::max(seconds.count(), 1e-9));
  }
  return best;
}

}  // namespace lockstep
