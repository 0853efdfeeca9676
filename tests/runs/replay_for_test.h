// A run of two ranks, and `replay` on it, for tests.
#ifndef LOCKSTEP_TESTS_RUNS_REPLAY_FOR_TEST_H_
#define LOCKSTEP_TESTS_RUNS_REPLAY_FOR_TEST_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/train/train_rig.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {

inline RigOptions TwoRanks(const std::string& guarantee,
                           const std::vector<std::string>& faults = {}) {
  return {.sets = {"guarantee=" + guarantee, "parallel.data=2",
                   "checkpoint.every=2", "model.hidden_dropout=0.1"},
          .threads = 1,
          .ranks = 2,
          .faults = faults};
}

struct Replayed {
  nlohmann::json json;
  bool negative;
};

inline Replayed Replay(const TrainRig& rig, ReplayVerbOptions options) {
  options.run_dir = rig.dir();
  options.threads = 1;
  options.json = true;
  const auto answer = ReplayVerb(options);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  if (!answer.ok()) return {{}, true};
  return {nlohmann::json::parse(answer->text), answer->negative};
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_RUNS_REPLAY_FOR_TEST_H_
