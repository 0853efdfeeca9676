// Runs to compare, for tests.
//
// What it is: debug.toml for three steps under any seed, through the verb, and
// the answer of `compare` as JSON. What it is not: numbers made up: losses are
// what the runs evaluate to.
#ifndef LOCKSTEP_TESTS_COMPARE_COMPARE_FOR_TEST_H_
#define LOCKSTEP_TESTS_COMPARE_COMPARE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/train/train_rig.h"
#include "tools/compare/compare_verb.h"

namespace lockstep {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

inline RigOptions Seed(int64_t seed, Names sets = {}) {
  RigOptions options = {.steps = 3};
  options.sets = {absl::StrCat("seed=", seed), "schedule.warmup=1"};
  options.sets.insert(options.sets.end(), sets.begin(), sets.end());
  return options;
}

inline std::string Trained(const std::string& name, const RigOptions& options) {
  const TrainRig rig(name);
  rig.Unseed(options);
  return rig.dir();
}

inline Json Compared(const CompareOptions& options) {
  CompareOptions asked = options;
  asked.json = true;
  const auto answer = CompareVerb(asked);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return answer.ok() ? Json::parse(answer->text) : Json();
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_COMPARE_COMPARE_FOR_TEST_H_
