// What was measured of a step, as the cases of `lockstep bench step`.
#ifndef LOCKSTEP_TOOLS_BENCH_STEP_CASES_H_
#define LOCKSTEP_TOOLS_BENCH_STEP_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/bench.h"
#include "tools/bench/step_profile.h"
#include "tools/run_config.h"

namespace lockstep {

struct StepMeasure {
  StepTimes times;
  double peak = 0;      // FLOP/s of the registers, products of the step's type
  double fma_peak = 0;  // of fp32, which the scan and attention are made of
  double memory = 0;    // bytes/s, read and written
  int64_t peak_bytes = 0;
  double fingerprint_seconds = 0;  // of gradients, parameters and state
  // Of a peer's steps, and over ours beside them; empty: no peer.
  std::string peer = {};
  std::vector<double> peer_seconds = {}, peer_ratios = {};
};

// `config` is of the steps that were measured; a step of the recipe itself has
// `recipe_samples`.
std::vector<BenchCase> StepCases(const RunConfig& config,
                                 const StepMeasure& measure, int threads,
                                 int64_t recipe_samples);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_STEP_CASES_H_
