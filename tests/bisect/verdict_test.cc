// Verdicts that need more than one fault in a step: a state that was loaded,
// runs without fingerprints, and whether a fix is one; and a cause that the
// elements tell.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "tests/audit/forge_for_test.h"
#include "tests/bisect/bisected_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"
#include "tools/bisect/fix_check.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// One bit of one moment, in a checkpoint whose hashes all hold: what the run
// goes on from is not what the other has.
TEST(BisectLoadTest, ALoadedStateIsNamedByEntryAndFile) {
  const std::string entry =
      "optimizer/backbone.layers.3.mixer.o_proj.weight.exp_avg";
  const TrainRig a("load_a"), b("load_b");
  a.Unseed(Options());
  RigOptions half = Options();
  half.until = 4;
  b.Unseed(half);
  ForgeTensor(b.dir() + "/checkpoints/step_00000004", entry);
  b.Unseed(Options());
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "state_after_load") << json;
  EXPECT_EQ(json["step"], 5);
  EXPECT_EQ(json["phase"], "load");
  EXPECT_EQ(json["tensor"], entry);
  EXPECT_EQ(json["odd_one"], "b");
  EXPECT_EQ(json["state"]["entries"], 1) << json;
  EXPECT_EQ(json["state"]["saved_right"], false);
  EXPECT_NE(json["state"]["path"].get<std::string>().find(
                "load_b/checkpoints/step_00000004/"),
            std::string::npos)
      << json;
}

// A resume that changes nothing and a fault behind it: not the load's.
TEST(BisectLoadTest, ASoundLoadIsNotBlamed) {
  const TrainRig a("sound_a"), b("sound_b");
  a.Unseed(Options());
  RigOptions half = Options();
  half.until = 4;
  b.Unseed(half);
  b.Unseed(Options(
      "kind=flip,bit=22,step=5,element=77,at=layers.0.mixer.in_proj.forward"));
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["operation"], "in_proj");
}

// The update of step 3 is wrong, and no loss says so before step 4.
TEST(BisectUnfingerprintedTest, TheStepIsFoundInOneReplay) {
  const std::string fault =
      "kind=flip,bit=22,step=3,element=5,"
      "at=backbone.layers.1.mixer.up_proj.weight.adamw.optimizer";
  const TrainRig a("blind_a"), b("blind_b");
  RigOptions clean = Options(), broken = Options(fault);
  for (RigOptions* options : {&clean, &broken}) {
    options->sets.push_back("metrics.fingerprints=false");
    options->sets.push_back("checkpoint.every=6");
  }
  a.Unseed(clean);
  b.Unseed(broken);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["step"], 3);
  EXPECT_EQ(json["operation"], "adamw");
  EXPECT_EQ(json["scope"], "backbone.layers.1.mixer.up_proj.weight");
  EXPECT_LE(json["replays"], 3);  // ceil(log2(6)) + 2 would be 5
}

// The update of the last step is wrong: no line says so, and what is saved
// behind it does.
TEST(BisectUnfingerprintedTest, ALastStepThatOnlyItsCheckpointShowsIsNamed) {
  const TrainRig a("last_a"), b("last_b"), c("last_c");
  RigOptions clean = Options(),
             broken = Options(
                 "kind=flip,bit=22,step=6,element=5,"
                 "at=backbone.layers.1.mixer.up_proj.weight.adamw.optimizer");
  for (RigOptions* options : {&clean, &broken}) {
    options->sets.push_back("metrics.fingerprints=false");
  }
  a.Unseed(clean);
  b.Unseed(broken);
  EXPECT_TRUE(SameLines(a.Metrics(), b.Metrics()));
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["step"], 6);
  EXPECT_EQ(json["operation"], "adamw");
  // What was changed behind its steps no replay shows.
  c.Unseed(clean);
  ForgeTensor(c.dir() + "/checkpoints/step_00000006",
              "optimizer/backbone.layers.3.mixer.o_proj.weight.exp_avg");
  const Json forged = Bisected(a, c);
  EXPECT_EQ(forged["verdict"], "saved_state") << forged;
  EXPECT_EQ(forged["step"], 6);
}

FixCheck Checked(const TrainRig& a, const TrainRig& b, const TrainRig& c,
                 const TrainRig& d) {
  FileSystem& fs = *PosixFileSystem();
  const auto old = Bisect(fs, {.a = a.dir(), .b = b.dir(), .threads = 1});
  EXPECT_TRUE(old.ok()) << old.status().message();
  const auto check =
      CheckFix(fs, {.c = c.dir(), .d = d.dir(), .threads = 1}, *old);
  EXPECT_TRUE(check.ok()) << check.status().message();
  return *check;
}

TEST(VerifyFixTest, SaysWhetherTheNewPairIsAFix) {
  const std::string fault =
      "kind=flip,bit=22,step=4,element=77,at=layers.0.mixer.in_proj.forward";
  const TrainRig a("fix_a"), b("fix_b"), c("fix_c"), d("fix_d"), early("fix_e");
  a.Unseed(Options());
  b.Unseed(Options(fault));
  c.Unseed(Options());
  d.Unseed(Options());
  RigOptions few = Options();
  few.until = 2;
  early.Unseed(few);
  const FixCheck fixed = Checked(a, b, c, d);
  EXPECT_EQ(fixed.verdict, "fixed") << FixText(fixed);
  EXPECT_TRUE(fixed.good());
  EXPECT_EQ(fixed.executed, std::optional<bool>(true));
  EXPECT_TRUE(fixed.same_program);
  EXPECT_EQ(fixed.new_steps, 6);
  EXPECT_TRUE(fixed.cost().has_value());
  EXPECT_EQ(fixed.new_times.steps, 10);  // of twice six
  FixCheck slower = fixed;
  slower.old_times = {.median_ms = 2, .least_ms = 1, .most_ms = 4, .steps = 9};
  slower.new_times = {.median_ms = 6, .least_ms = 3, .most_ms = 8, .steps = 9};
  EXPECT_FALSE(slower.cost_shown());
  EXPECT_NE(FixText(slower).find("the ranges touch"), std::string::npos);
  slower.new_times.least_ms = 5;
  EXPECT_TRUE(slower.cost_shown());
  EXPECT_EQ(FixText(slower).find("the ranges touch"), std::string::npos);
  const FixCheck not_fixed = Checked(a, b, c, b);
  EXPECT_EQ(not_fixed.verdict, "not_fixed");
  EXPECT_FALSE(not_fixed.good());
  EXPECT_EQ(not_fixed.new_step, 4);
  EXPECT_EQ(Checked(a, c, c, d).verdict, "old_pair_is_equal");
  EXPECT_EQ(Checked(a, b, c, early).verdict, "not_enough");
  EXPECT_FALSE(Json::parse(FixJson(not_fixed))["good"]);
}

// The new pair has an MLP where the fault was in a Mamba-2 layer.
TEST(VerifyFixTest, AWayRoundIsToldFromAMending) {
  const std::string fault =
      "kind=flip,bit=22,step=4,element=77,at=layers.0.mixer.conv1d.forward";
  const TrainRig a("round_a"), b("round_b"), c("round_c"), d("round_d");
  a.Unseed(Options());
  b.Unseed(Options(fault));
  RigOptions other = Options();
  other.sets.push_back("model.pattern=--M*-");
  c.Unseed(other);
  d.Unseed(other);
  const FixCheck check = Checked(a, b, c, d);
  EXPECT_EQ(check.verdict, "routed_around") << FixText(check);
  EXPECT_EQ(check.executed, std::optional<bool>(false));
  EXPECT_FALSE(check.notes.empty());  // another recipe
}

// What a sum that cancels makes of another order is far off; most is not.
TEST(BisectCauseTest, AnotherOrderOfASumIsToldByItsUlps) {
  const TrainRig a("bisect_order_a"), b("bisect_order_b");
  a.Unseed(Options());
  b.Unseed(Options("kind=order,step=4,at=layers.0.mixer.in_proj.forward"));
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_NE(json["cause"].get<std::string>().find("another order of a sum"),
            std::string::npos)
      << json["cause"];
}

}  // namespace
}  // namespace lockstep
