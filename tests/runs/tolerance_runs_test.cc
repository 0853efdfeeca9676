// `trace diff --tolerance` of whole runs: another precision is close, and an
// error that one operation makes is found in the midst of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "determinism/status.h"
#include "tests/train/train_rig.h"
#include "tools/trace_verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Traced(const std::string& precision) {
  return {.sets = {"precision.mode=" + precision, "trace.level=operation",
                   "trace.values=sample", "batch.global=2", "batch.micro=1"},
          .steps = 4,
          .threads = 1,
          .until = 1};
}

Json Within(const TrainRig& a, const TrainRig& b) {
  const auto answer = TraceDiffVerb(
      {.a = a.dir(), .b = b.dir(), .tolerance = true, .json = true});
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return answer.ok() ? Json::parse(answer->text) : Json();
}

TEST(ToleranceRunsTest, AnotherPrecisionIsCloseUntilAnErrorGrows) {
  const TrainRig fp32("tolerance_fp32"), bf16("tolerance_bf16");
  const TrainRig broken("tolerance_broken");
  fp32.Unseed(Traced("fp32"));
  bf16.Unseed(Traced("bf16"));
  const Json close = Within(fp32, bf16);
  EXPECT_EQ(close["verdict"], "close") << close["points"];
  EXPECT_GT(close["compared"], 200);
  // Exact equality would name the very first conversion.
  EXPECT_GT(close["worst"]["units_out"], 0);
  RigOptions options = Traced("bf16");
  options.faults = {
      "kind=spike,factor=1e4,step=1,element=5,"
      "at=layers.2.mixer.conv1d.forward"};
  broken.Unseed(options);
  const Json grown = Within(fp32, broken);
  EXPECT_EQ(grown["verdict"], "grows");
  ASSERT_FALSE(grown["points"].empty());
  const Json& first = grown["points"][0];
  EXPECT_EQ(first["scope"], "layers.2.mixer") << grown["points"];
  EXPECT_EQ(first["operation"], "conv1d");
  EXPECT_GE(first["growth"], 100);
}

TEST(ToleranceRunsTest, TracesWithoutValuesAreRefused) {
  const TrainRig a("tolerance_bare");
  RigOptions options = Traced("fp32");
  options.sets[2] = "trace.values=none";
  a.Unseed(options);
  const auto answer =
      TraceDiffVerb({.a = a.dir(), .b = a.dir(), .tolerance = true});
  EXPECT_EQ(ExitCodeFor(answer.status()), 2);
}

}  // namespace
}  // namespace lockstep
