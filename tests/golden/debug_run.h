// The golden runs: recipes/debug.toml as shipped, at a few steps.
//
// What it is: what a run's metrics.jsonl says there, to be held against the
// committed debug_run.json or to be written to it. What it is not: an
// independent truth; model_golden_test.cc and its kin hold that. Why so: these
// bits are what every machine must reproduce, whatever its instruction level.
#ifndef LOCKSTEP_TESTS_GOLDEN_DEBUG_RUN_H_
#define LOCKSTEP_TESTS_GOLDEN_DEBUG_RUN_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "determinism/environment.h"

namespace lockstep {

using Json = nlohmann::ordered_json;

// Of precision.mode; what the committed file has an entry for.
const std::vector<std::string>& GoldenModes();

// Trains the recipe's twenty steps at this level and returns, for steps 1, 5
// and 20, {"step", "data", "loss_bits", "params"}. `faults` as for train.
Json RecordDebugRun(const std::string& mode, Isa isa,
                    const std::vector<std::string>& faults = {});

// One line a field that differs, with step, both values and what to do; empty
// when `got` is `want` to the bit. A different `data` is told alone, since all
// else follows from it.
std::vector<std::string> GoldenDifferences(const Json& want, const Json& got);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_GOLDEN_DEBUG_RUN_H_
