#include <cstdint>
#include <string>
#include <vector>

#include "data/blend.h"
#include "data/order.h"
#include "determinism/philox.h"
#include "determinism/status.h"
#include "tools/bench/benches.h"
#include "tools/bench/in_turns.h"

namespace lockstep {
namespace {

constexpr uint64_t kSeed = 1234;
constexpr uint64_t kIndices = 400'000;
constexpr int kRounds = 5;

// So that no call is optimised away; read by the answer's name.
struct Sink {
  uint64_t value = 0;
};

void Draw(const Blend* blend, uint64_t samples, Sink& sink) {
  const uint64_t first = 12 * samples;  // epochs in
  for (uint64_t g = first; g < first + kIndices; ++g) {
    const BlendDraw draw = blend == nullptr ? BlendDraw{0, g} : blend->At(g);
    sink.value += SampleAt(kSeed, draw.source, samples, draw.index);
  }
}

// One draw of Philox an index, for the scale.
void DrawPhilox(Sink& sink) {
  for (uint64_t g = 0; g < kIndices; ++g) {
    sink.value += RandomU32(kSeed, {Stream::kOrder, 0, 0, 4 * g});
  }
}

BenchCase Measure(const std::string& name, const Blend* blend,
                  uint64_t samples) {
  Sink sink;
  const PairedSeconds best = InTurns(
      kRounds, [&] { Draw(blend, samples, sink); }, [&] { DrawPhilox(sink); });
  BenchCase result = {.name = name, .unit = "indices/s"};
  result.rate = static_cast<double>(kIndices) / best.first;
  result.probe = static_cast<double>(kIndices) / best.second;
  result.ratio = result.rate / result.probe;
  return result;
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchOrder(const BenchOptions&) {
  // Just above a power of two: half of the network's places are walked over.
  constexpr uint64_t kWorst = (uint64_t{1} << 30) + 1;
  LS_ASSIGN_OR_RETURN(
      const Blend blend,
      Blend::Make({{0, {0.5, 0.25, 0.125, 0.0625, 0.06, 0.0025}},
                   {1000, {1, 2, 3, 4, 5, 6.1}}}));
  return std::vector<BenchCase>{
      Measure("one source, 10^9 samples", nullptr, 1'000'000'000),
      Measure("one source, 2^30 + 1 samples", nullptr, kWorst),
      Measure("blend of 6, two stages", &blend, 1'000'000'000),
      Measure("blend of 6, 2^30 + 1 samples", &blend, kWorst)};
}

}  // namespace lockstep
