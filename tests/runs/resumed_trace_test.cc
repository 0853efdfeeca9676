// Traces of runs that were killed and went on: each step stands in them once.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/train/train_rig.h"
#include "tools/trace_verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Traced(const std::string& fault = "") {
  RigOptions options = {.sets = {"trace.level=operation", "checkpoint.every=2"},
                        .threads = 1};
  if (!fault.empty()) options.faults = {fault};
  return options;
}

Json Difference(const TrainRig& a, const std::string& b) {
  const auto answer = TraceDiffVerb({.a = a.dir(), .b = b, .json = true});
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return answer.ok() ? Json::parse(answer->text) : Json();
}

// Twice from the same checkpoint: the second launch does again what the first
// had begun.
TEST(ResumedTraceTest, AStepThatIsDoneAgainStandsInTheTraceOnce) {
  const TrainRig straight("trace_straight"), killed("trace_killed");
  straight.Unseed(Traced());
  RigOptions half = Traced();
  half.until = 2;
  killed.Unseed(half);
  killed.TrainUntilKilled(Traced("kind=kill,step=4"));
  const Json cut = Difference(straight, killed.dir());
  EXPECT_EQ(cut["verdict"], "ends_early") << cut;
  EXPECT_EQ(cut["ends_b"]["step"], 3) << cut;
  killed.Unseed(Traced());
  const Json whole = Difference(straight, killed.dir());
  EXPECT_EQ(whole["verdict"], "equal") << whole;
  EXPECT_EQ(whole["missing"], 0);
  EXPECT_NE(killed.Read("ledger.jsonl")
                .find(R"("traces":["rank_0.step_00000002.trace"])"),
            std::string::npos);
  // What it had of them is kept, and can be looked at.
  EXPECT_EQ(killed.List("abandoned").size(), 1u);
  const std::string kept = "abandoned/" + killed.List("abandoned")[0];
  const Json old = Difference(straight, killed.dir() + "/" + kept + "/traces");
  EXPECT_EQ(old["different"], 0) << old;
}

// From further back than an earlier launch had begun: that one's file would
// count for steps that were done again since.
TEST(ResumedTraceTest, AFileOfALaterStepGivesWay) {
  const TrainRig straight("trace_line"), back("trace_back");
  straight.Unseed(Traced());
  RigOptions part = Traced();
  part.until = 4;
  back.Unseed(part);
  part.until = 5;
  back.Unseed(part);
  RigOptions again = Traced();
  again.resume = back.dir() + "/checkpoints/step_00000002";
  back.Unseed(again);
  EXPECT_EQ(back.List("traces"),
            (std::vector<std::string>{"rank_0.step_00000000.trace",
                                      "rank_0.step_00000002.trace"}));
  EXPECT_EQ(Difference(straight, back.dir())["verdict"], "equal");
}

// What a launch did again counts, and where that left no trace there is none.
TEST(ResumedTraceTest, StepsThatWereDoneAgainWithoutATraceHaveNone) {
  const TrainRig straight("trace_all"), silent("trace_silent");
  straight.Unseed(Traced());
  RigOptions part = Traced();
  part.until = 5;
  silent.Unseed(part);
  RigOptions again = Traced();
  again.sets[0] = "trace.level=off";
  again.resume = silent.dir() + "/checkpoints/step_00000002";
  silent.Unseed(again);
  const Json json = Difference(straight, silent.dir());
  EXPECT_EQ(json["verdict"], "ends_early") << json;
  EXPECT_EQ(json["ends_b"]["step"], 2) << json;
}

}  // namespace
}  // namespace lockstep
