// What bisect says of two runs of a rig, as JSON; and runs for it that save
// after every second step.
#ifndef LOCKSTEP_TESTS_BISECT_BISECTED_FOR_TEST_H_
#define LOCKSTEP_TESTS_BISECT_BISECTED_FOR_TEST_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "determinism/file_system.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"

namespace lockstep {

// Of one rank and one thread; `fault` empty: sound.
inline RigOptions Options(const std::string& fault = "") {
  RigOptions options = {.sets = {"checkpoint.every=2"}, .threads = 1};
  if (!fault.empty()) options.faults = {fault};
  return options;
}

// Null, and a failure of the test, where it ends with an error.
inline nlohmann::json Bisected(const TrainRig& a, const TrainRig& b) {
  const auto result =
      Bisect(*PosixFileSystem(), {.a = a.dir(), .b = b.dir(), .threads = 1});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? nlohmann::json::parse(BisectJson(*result))
                     : nlohmann::json();
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_BISECT_BISECTED_FOR_TEST_H_
