// `lockstep status` of a run that `launch` began more than once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "determinism/file_system.h"
#include "tests/train/train_rig.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

// Whenever they were written: a rank that was cut off from its job may say its
// last words during the next one.
TEST(StatusTest, LateWordsOfAFormerAttemptAreToldApart) {
  const TrainRig rig("status_late");
  RigOptions options = {.steps = 4};
  options.until = 2;
  setenv("LOCKSTEP_ATTEMPT", "7.1.1", 1);
  rig.Unseed(options);
  options.until.reset();
  setenv("LOCKSTEP_ATTEMPT", "7.1.2", 1);
  rig.Unseed(options);
  unsetenv("LOCKSTEP_ATTEMPT");
  ASSERT_TRUE(PosixFileSystem()->MakeDirs(rig.dir() + "/ranks").ok());
  rig.Write("ranks/0.json", R"({"rank":0,"attempt":"7.1.1"})");
  rig.Write("ranks/1.json", R"({"rank":1,"attempt":"7.1.2"})");
  const auto answer = StatusVerb({.run_dir = rig.dir(), .json = true});
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  const auto status = nlohmann::json::parse(answer->text);
  EXPECT_EQ(status["ranks"]["0"]["earlier_launch"], true);
  EXPECT_FALSE(status["ranks"]["1"].contains("earlier_launch"));
}

}  // namespace
}  // namespace lockstep
