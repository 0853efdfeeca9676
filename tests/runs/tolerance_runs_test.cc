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

// fp16 goes backward with gradients that are some thousand times as large.
TEST(ToleranceRunsTest, AScaleOfTheLossIsNoDifference) {
  const TrainRig fp32("scale_fp32"), fp16("scale_fp16"), broken("scale_broken");
  fp32.Unseed(Traced("fp32"));
  fp16.Unseed(Traced("fp16"));
  for (const Json& close : {Within(fp32, fp16), Within(fp16, fp32)}) {
    EXPECT_EQ(close["verdict"], "close") << close["points"];
    EXPECT_EQ(close["left_out"], 0);
    EXPECT_NE(close["notes"].dump().find("scaled otherwise"), std::string::npos)
        << close["notes"];
  }
  RigOptions options = Traced("fp16");
  options.faults = {
      "kind=spike,factor=1e3,step=1,element=5,"
      "at=layers.2.mixer.out_proj.backward"};
  broken.Unseed(options);
  const Json grown = Within(fp32, broken);
  ASSERT_FALSE(grown["points"].empty());
  EXPECT_EQ(grown["points"][0]["operation"], "out_proj") << grown["points"];
  EXPECT_EQ(grown["points"][0]["phase"], "backward");
}

// Its sums of gradients are integers on a grid.
TEST(ToleranceRunsTest, IntegersAreNotHeldAgainstFloats) {
  const TrainRig plain("grid_plain"), grid("grid_invariant");
  plain.Unseed(Traced("fp32"));
  RigOptions options = Traced("fp32");
  options.sets.push_back("guarantee=layout_invariant");
  grid.Unseed(options);
  const Json close = Within(plain, grid);
  EXPECT_EQ(close["verdict"], "close") << close["points"];
  EXPECT_GT(close["left_out"], 0);
  EXPECT_NE(close["notes"].dump().find("left out"), std::string::npos);
}

// What is cut into other micro-batches has no match.
TEST(ToleranceRunsTest, StepsThatAreCutOtherwiseAreRefused) {
  const TrainRig ones("cut_ones"), twos("cut_twos"), again("cut_again");
  ones.Unseed(Traced("fp32"));
  RigOptions options = Traced("fp32");
  options.sets[4] = "batch.micro=2";
  twos.Unseed(options);
  options = Traced("fp32");
  options.sets.push_back("train.recompute=true");
  again.Unseed(options);
  for (const bool tolerance : {false, true}) {
    for (const auto& [other, key] :
         {std::pair(&twos, "batch.micro"), {&again, "train.recompute"}}) {
      const auto answer = TraceDiffVerb(
          {.a = ones.dir(), .b = other->dir(), .tolerance = tolerance});
      // Forward that is done again is but not matched.
      if (tolerance && other == &again) {
        EXPECT_TRUE(answer.ok()) << answer.status();
        continue;
      }
      EXPECT_EQ(ExitCodeFor(answer.status()), 2) << key;
      EXPECT_NE(answer.status().message().find(key), std::string::npos);
      EXPECT_NE(answer.status().message().find("lockstep bisect"),
                std::string::npos);
    }
  }
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
