#include "model/initialise.h"

#include <algorithm>

#include "determinism/math64.h"
#include "determinism/philox.h"
#include "model/parameters.h"

namespace lockstep {
namespace {

RandomPosition Position(int index, int64_t element) {
  return {Stream::kInit, 0, static_cast<uint64_t>(index),
          static_cast<uint64_t>(element)};
}

// The bias whose softplus is a step size drawn log-uniformly from [1e-3, 1e-1]
// and kept above 1e-4 (Mamba-2's initialisation).
float DtBias(double uniform) {
  constexpr double kLow = 1e-3, kHigh = 1e-1, kFloor = 1e-4;
  const double low = math64::Log(kLow);
  const double step =
      std::max(math64::Exp(low + uniform * (math64::Log(kHigh) - low)), kFloor);
  return static_cast<float>(step + math64::Log(1.0 - math64::Exp(-step)));
}

float Draw(uint64_t seed, const RandomPosition& position,
           const InitSpec& init) {
  if (init.kind == InitKind::kOne) return 1.0f;
  if (init.kind == InitKind::kNormal) {
    return static_cast<float>(init.scale) * RandomNormal(seed, position);
  }
  const double uniform = RandomUniform(seed, position);
  switch (init.kind) {
    case InitKind::kUniform:
      return static_cast<float>((2.0 * uniform - 1.0) * init.scale);
    case InitKind::kLogUniformA:  // log of A ~ U(1, 16)
      return static_cast<float>(math64::Log(1.0 + 15.0 * uniform));
    default:
      return DtBias(uniform);
  }
}

}  // namespace

void InitialiseTensor(Device& device, uint64_t seed, int index,
                      const InitSpec& init, int64_t first_element,
                      std::span<float> values) {
  constexpr int64_t kGrain = 4096;
  device.threads().ParallelFor(
      static_cast<int64_t>(values.size()),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          values[i] = Draw(seed, Position(index, first_element + i), init);
        }
      },
      kGrain);
}

}  // namespace lockstep
