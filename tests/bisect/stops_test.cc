// Steps that stopped a run by their numbers: they have no line, and are named
// like any other.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/bisect/bisected_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/fix_check.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

void Stop(const TrainRig& rig, const std::string& fault) {
  const RigResult result = rig.Train(Options(fault));
  EXPECT_EQ(ExitCodeFor(result.status), 5) << result.status;
}

std::string Nan(const std::string& at, int step, int element = 7) {
  return absl::StrCat("kind=nan,step=", step, ",element=", element, ",at=", at);
}

void ExpectNamed(const Json& json, int step, const char* operation) {
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["step"], step);
  EXPECT_EQ(json["operation"], operation);
  EXPECT_EQ(json["fields"], Json::array({"stop"}));
  EXPECT_EQ(json["repeatable"], true);
  EXPECT_EQ(json["elements"]["differ"], 1) << json["elements"];
  EXPECT_NE(json["notes"].dump().find(" was stopped: "), std::string::npos);
}

TEST(BisectStopTest, TheOperationThatMadeALossNoNumberIsNamed) {
  const TrainRig a("stop_a"), b("stop_b");
  a.Unseed(Options());
  Stop(b, Nan("layers.0.mixer.in_proj.forward", 5));
  ExpectNamed(Bisected(a, b), 5, "in_proj");
  ExpectNamed(Bisected(b, a), 5, "in_proj");
}

TEST(BisectStopTest, AndTheOneThatMadeAGradientNoNumber) {
  const TrainRig a("stop_grad_a"), b("stop_grad_b");
  a.Unseed(Options());
  // The first step: there is no checkpoint before it.
  Stop(b, Nan("layers.1.mixer.down_proj.backward", 1));
  ExpectNamed(Bisected(a, b), 1, "down_proj");
}

TEST(BisectStopTest, TwoThatStoppedAlikeAreEqual) {
  const std::string fault = Nan("layers.0.mixer.in_proj.forward", 3);
  const TrainRig a("alike_a"), b("alike_b");
  Stop(a, fault);
  Stop(b, fault);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "equal") << json;
  EXPECT_EQ(json["replays"], 1);
  EXPECT_NE(json["notes"].dump().find("stopped both runs"), std::string::npos);
}

TEST(BisectStopTest, TwoThatStoppedWithOtherBitsAreNot) {
  const TrainRig a("other_a"), b("other_b");
  // The same loss, of the same place, and another way there.
  Stop(a, Nan("layers.0.mixer.in_proj.forward", 3, 7));
  Stop(b, Nan("layers.0.mixer.in_proj.forward", 3, 8));
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["step"], 3);
  EXPECT_EQ(json["operation"], "in_proj");
}

// Without fingerprints on record the steps are searched by replays, of which
// the last has none either.
TEST(BisectStopTest, IsNamedWithoutFingerprintsToo) {
  const TrainRig a("bare_stop_a");
  RigOptions options = Options();
  options.sets.push_back("metrics.fingerprints=false");
  a.Unseed(options);
  for (const char* recorded : {"true", "false"}) {
    const TrainRig b("bare_stop_b");
    options.sets.back() = std::string("metrics.fingerprints=") + recorded;
    options.faults = {Nan("layers.0.mixer.in_proj.forward", 5)};
    EXPECT_EQ(ExitCodeFor(b.Train(options).status), 5);
    ExpectNamed(Bisected(a, b), 5, "in_proj");
    ExpectNamed(Bisected(b, a), 5, "in_proj");
  }
}

// What a replay does not come to happened once.
TEST(BisectStopTest, AStopThatDoesNotComeBackIsSaidToBeOne) {
  const TrainRig a("once_stop_a"), b("once_stop_b");
  a.Unseed(Options());
  RigOptions options =
      Options(Nan("layers.0.mixer.in_proj.forward", 3) + ",replayed=no");
  options.sets.push_back("trace.level=operation");
  EXPECT_EQ(ExitCodeFor(b.Train(options).status), 5);
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "operation") << json;
  EXPECT_EQ(json["repeatable"], false);
  EXPECT_EQ(json["odd_one"], "b");
  EXPECT_EQ(json["operation"], "in_proj") << json["notes"];
  EXPECT_NE(json["cause"].get<std::string>().find("before the update"),
            std::string::npos)
      << json["cause"];
}

// Two new runs that the same step stops for the same reason are one another's.
TEST(BisectStopTest, AFixWhoseRunsAreStoppedAlikeIsStillOne) {
  const TrainRig a("fixed_stop_a"), b("fixed_stop_b"), c("fixed_stop_c"),
      d("fixed_stop_d");
  a.Unseed(Options());
  b.Unseed(Options(
      "kind=flip,step=2,bit=22,element=5,at=layers.0.mixer.in_proj.forward"));
  for (const TrainRig* rig : {&c, &d}) {
    Stop(*rig, Nan("layers.0.mixer.in_proj.forward", 4));
  }
  FileSystem& fs = *PosixFileSystem();
  const auto old = Bisect(fs, {.a = a.dir(), .b = b.dir(), .threads = 1});
  ASSERT_TRUE(old.ok()) << old.status();
  const auto check =
      CheckFix(fs, {.c = c.dir(), .d = d.dir(), .threads = 1}, *old);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->verdict, "fixed") << FixText(*check);
  EXPECT_NE(FixText(*check).find("stopped both new runs alike"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
