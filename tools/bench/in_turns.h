// Timing of two pieces of work in turns (bench.h declares it).
#ifndef LOCKSTEP_TOOLS_BENCH_IN_TURNS_H_
#define LOCKSTEP_TOOLS_BENCH_IN_TURNS_H_

#include <algorithm>
#include <limits>

#include "determinism/clock.h"

namespace lockstep {

// Seconds that each of two functions takes at best, run in turns `rounds`
// times: what disturbs the machine then meets both.
struct PairedSeconds {
  double first = std::numeric_limits<double>::infinity();
  double second = std::numeric_limits<double>::infinity();
};

template <typename Work>
double SecondsOf(const Work& work) {
  RealClock clock;
  const int64_t start = clock.MonotonicNanos();
  work();
  return static_cast<double>(clock.MonotonicNanos() - start) * 1e-9;
}

template <typename First, typename Second>
PairedSeconds InTurns(int rounds, const First& first, const Second& second) {
  PairedSeconds best;
  for (int round = 0; round < rounds; ++round) {
    best.first = std::min(best.first, SecondsOf(first));
    best.second = std::min(best.second, SecondsOf(second));
  }
  return best;
}

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_IN_TURNS_H_
