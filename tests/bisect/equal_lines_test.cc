// Two runs whose lines agree as far as both go, and that are not equal.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/audit/forge_for_test.h"
#include "tests/bisect/bisected_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Where no line differs, two runs can still part: one was ended earlier, its
// last line is lost, or a checkpoint is another's.
TEST(BisectEqualLinesTest, ARunThatEndedEarlyIsNotEqual) {
  const TrainRig a("ends_a"), b("ends_b");
  a.Unseed(Options());
  RigOptions few = Options();
  few.until = 4;
  b.Unseed(few);
  for (const bool swapped : {false, true}) {
    const Json json = swapped ? Bisected(b, a) : Bisected(a, b);
    EXPECT_EQ(json["verdict"], "missing_steps") << json;
    EXPECT_EQ(json["step"], 5);
    EXPECT_FALSE(json["cause"].get<std::string>().empty());
  }
}

TEST(BisectEqualLinesTest, ALostLineOrAnotherCheckpointIsNotEqual) {
  const TrainRig a("lines_a"), b("lines_b");
  a.Unseed(Options());
  b.Unseed(Options());
  EXPECT_EQ(Bisected(a, b)["verdict"], "equal");
  const std::string lines = b.Read("metrics.jsonl");
  const size_t last = lines.rfind('\n', lines.size() - 2) + 1;
  b.Write("metrics.jsonl", lines.substr(0, last));
  EXPECT_EQ(Bisected(a, b)["verdict"], "missing_steps");
  EXPECT_EQ(Bisected(a, b)["step"], 6);
  b.Write("metrics.jsonl", lines.substr(lines.find('\n') + 1));
  EXPECT_EQ(Bisected(a, b)["verdict"], "missing_steps");
  EXPECT_EQ(Bisected(a, b)["step"], 1);
  b.Write("metrics.jsonl", lines);
  ForgeTensor(b.dir() + "/checkpoints/step_00000006",
              "optimizer/backbone.layers.3.mixer.o_proj.weight.exp_avg");
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "saved_state") << json;
  EXPECT_EQ(json["step"], 6);
  EXPECT_EQ(json["tensor"],
            "optimizer/backbone.layers.3.mixer.o_proj.weight.exp_avg")
      << json;
}

// What stopped it is told with where it ended.
TEST(BisectEqualLinesTest, ARunThatWasStoppedSaysWhy) {
  const TrainRig a("stopped_a"), b("stopped_b");
  a.Unseed(Options());
  EXPECT_FALSE(
      b.Train(Options("kind=enospc,at=save.shard.write,step=2")).status.ok());
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "missing_steps") << json;
  EXPECT_NE(json["notes"].dump().find("run b was stopped: "), std::string::npos)
      << json["notes"];
}

}  // namespace
}  // namespace lockstep
