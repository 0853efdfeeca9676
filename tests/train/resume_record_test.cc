// What a resume leaves on record: the state as it was saved and as it came
// back, group by group, what differed from the launch before, and what that
// means for the bits after it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

// The last line of the ledger with this event.
Json LastOf(const TrainRig& rig, const std::string& event) {
  Json last;
  for (const auto line :
       absl::StrSplit(rig.Read("ledger.jsonl"), '\n', absl::SkipEmpty())) {
    const Json json = Json::parse(line.begin(), line.end());
    if (json["event"] == event) last = json;
  }
  EXPECT_FALSE(last.is_null()) << event;
  return last;
}

Json ManifestOf(const TrainRig& rig, int64_t step) {
  return Json::parse(rig.Read(
      absl::StrCat("checkpoints/step_0000000", step, "/manifest.json")));
}

// Those of --allow that are not of the build, which a test does not choose.
Json AllowedIn(const Json& manifest) {
  Json allowed = Json::array();
  for (const Json& a : manifest["allowed"]) {
    if (a["key"] != "dirty") allowed.push_back(a);
  }
  return allowed;
}

TEST(ResumeRecordTest, EveryGroupIsSavedAndRestored) {
  for (const std::string precision : {"fp32", "bf16", "fp16"}) {
    const TrainRig rig("record_" + precision);
    RigOptions options = {
        .sets = {"precision.mode=" + precision, "guarantee=layout_invariant",
                 "spike.action=note"},
        .steps = 4,
        .until = 2};
    rig.Unseed(options);
    options.until = 3;
    rig.Unseed(options);
    const Json resume = LastOf(rig, "resume");
    EXPECT_EQ(resume["fingerprints_saved"], resume["fingerprints_restored"]);
    for (const char* group : {"master", "moment", "runtime", "counter",
                              "random", "data", "scaler", "grid", "spike"}) {
      EXPECT_EQ(resume["fingerprints_restored"].value(group, "").size(), 32u)
          << group;
    }
    EXPECT_EQ(resume["state_saved"], resume["state_restored"]);
    // Those that a step's line has too, under the names of N11.
    const Json line = Json::parse(rig.Metrics()[1]);
    EXPECT_EQ(resume["fingerprints_saved"]["random"],
              line["fingerprint"]["rng"]);
    EXPECT_EQ(resume["fingerprints_saved"]["runtime"],
              line["fingerprint"]["params"]);
    EXPECT_EQ(resume["bits"], "unchanged");
    EXPECT_EQ(resume["may_differ"], Json::array());
    EXPECT_EQ(resume["harmless"], Json::array());
    EXPECT_EQ(resume["allowed"], Json::array());
  }
}

// A fork may have a seed of its own: a group that comes back as another is on
// record as such.
TEST(ResumeRecordTest, AGroupThatIsAnotherIsSeen) {
  const TrainRig parent("record_parent"), child("record_child");
  const RigOptions options = {.steps = 4, .until = 2};
  parent.Unseed(options);
  RigOptions fork = options;
  fork.fork = parent.dir() + "/checkpoints/step_00000002";
  fork.sets = {"seed=77"};
  fork.allow = {"dirty", "seed"};
  fork.until = 3;
  child.Unseed(fork);
  Json record = LastOf(child, "fork");
  Json &saved = record["fingerprints_saved"],
       &restored = record["fingerprints_restored"];
  EXPECT_NE(saved["random"], restored["random"]);
  saved.erase("random");
  restored.erase("random");
  EXPECT_EQ(saved, restored);
  EXPECT_EQ(AllowedIn(ManifestOf(child, 3))[0]["key"], "seed");
}

TEST(ResumeRecordTest, HarmlessDifferencesAreRecorded) {
  const TrainRig rig("record_harmless");
  RigOptions options = {.steps = 4, .threads = 1, .until = 2};
  rig.Unseed(options);
  options.until = 3;
  options.threads = 2;
  options.sets = {"metrics.tensorboard=false"};
  rig.Unseed(options);
  const Json resume = LastOf(rig, "resume");
  EXPECT_EQ(
      resume["harmless"].get<Texts>(),
      (Texts{"layout.threads: 1 -> 2", "metrics.tensorboard: true -> false"}));
  EXPECT_EQ(resume["bits"], "unchanged");
}

// What was allowed once is in every manifest after it, with its reason.
TEST(ResumeRecordTest, AReasonGoesAlongWithTheRun) {
  const TrainRig rig("record_reason");
  RigOptions options = {.steps = 5, .until = 2};
  rig.Unseed(options);
  const Json began = ManifestOf(rig, 2);
  EXPECT_EQ(AllowedIn(began), Json::array());
  EXPECT_EQ(began["allowed_since"], 0);
  options.sets = {"optimizer.lr=0.5"};
  options.allow = {"dirty", "optimizer.lr"};
  options.reason = "the loss stalls";
  options.until = 3;
  rig.Unseed(options);
  const Json resume = LastOf(rig, "resume");
  ASSERT_EQ(resume["allowed"].size(), 1u);
  EXPECT_TRUE(absl::StartsWith(resume["allowed"][0].get<std::string>(),
                               "optimizer.lr: "));
  EXPECT_EQ(resume["bits"], "may differ");
  ASSERT_EQ(resume["may_differ"].size(), 1u);
  EXPECT_TRUE(absl::StartsWith(resume["may_differ"][0].get<std::string>(),
                               "optimizer.lr: "));
  options.allow = {"dirty"};
  options.reason = "another launch";
  options.until = 4;
  rig.Unseed(options);
  EXPECT_EQ(LastOf(rig, "resume")["bits"], "unchanged");
  for (const int64_t step : {3, 4}) {
    const Json manifest = ManifestOf(rig, step), allowed = AllowedIn(manifest);
    ASSERT_EQ(allowed.size(), 1u);
    EXPECT_EQ(allowed[0]["key"], "optimizer.lr");
    EXPECT_EQ(allowed[0]["current"], "0.5");
    EXPECT_EQ(allowed[0]["reason"], "the loss stalls");
    EXPECT_EQ(allowed[0]["step"], 2);
    EXPECT_EQ(manifest["allowed_since"], 0);
  }
}

// Below `bitwise` the restored state is all that is promised, and what may
// change bits after it is named even where it is let through unasked.
TEST(ResumeRecordTest, ALowerRungSaysWhatMayDiffer) {
  const TrainRig rig("record_state_exact");
  RigOptions options = {
      .sets = {"guarantee=state_exact"}, .steps = 4, .ranks = 2, .until = 2};
  rig.Unseed(options);
  options.ranks = 1;
  options.until = 3;
  rig.Unseed(options);
  const Json resume = LastOf(rig, "resume");
  EXPECT_EQ(resume["fingerprints_saved"], resume["fingerprints_restored"]);
  EXPECT_EQ(resume["bits"], "may differ");
  EXPECT_EQ(resume["may_differ"].get<Texts>(),
            (Texts{"guarantee: state_exact promises no bits after a resume",
                   "layout.data: bits hold on one layout only on this rung",
                   "layout.world: bits hold on one layout only on this rung"}));
  const auto harmless = resume["harmless"].get<Texts>();
  for (const char* text : {"layout.data: 2 -> 1", "layout.world: 2 -> 1"}) {
    EXPECT_TRUE(absl::c_linear_search(harmless, text)) << text;
  }
  EXPECT_EQ(LastOf(rig, "layout_change")["bits"], "may differ");
}

}  // namespace
}  // namespace lockstep
