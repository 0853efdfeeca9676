// Exact unlearning: a run that goes back to the checkpoint before the first use
// of some samples and passes over them ends in the bits of a run that never saw
// them (SISA, Bourtoule et al. 2021, retrains a shard; with the order of
// samples a function of position, going back to one checkpoint is enough). From
// a later checkpoint it is not: what they taught is in the weights.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr int64_t kSteps = 8;
constexpr char kForgotten[] = "20-27";  // of 8 a step: steps 3 and 4 read them

struct Case {
  const char* name;
  std::vector<std::string> sets;
  int64_t ranks, ranks_after;
  std::vector<std::string> sets_after;
};

RigOptions Options(const std::vector<std::string>& sets, int64_t ranks) {
  RigOptions options = {.sets = sets, .steps = kSteps, .ranks = ranks};
  options.threads = 1;
  options.sets.insert(
      options.sets.end(),
      {"checkpoint.every=2", "checkpoint.keep=9", "model.hidden_dropout=0.1"});
  return options;
}

// A step's line without what says when the range was adopted.
std::vector<Json> StepsAfter(const TrainRig& rig, int64_t step) {
  std::vector<Json> steps;
  for (const std::string& line : rig.Metrics()) {
    Json json = Json::parse(line);
    if (json["step"] <= step) continue;
    json["fingerprint"].erase("state");
    steps.push_back(std::move(json));
  }
  return steps;
}

class UnlearningTest : public testing::TestWithParam<Case> {
 protected:
  TrainRig Forget(const TrainRig& taught, int64_t checkpoint) const {
    const TrainRig forgot(
        absl::StrCat("forgot_", GetParam().name, "_", checkpoint));
    RigOptions options = Options(GetParam().sets_after, GetParam().ranks_after);
    options.fork =
        absl::StrCat(taught.dir(), "/checkpoints/step_0000000", checkpoint);
    options.skip_samples = {kForgotten};
    forgot.Unseed(options);
    return forgot;
  }
};

TEST_P(UnlearningTest, BeforeTheFirstUseItIsAsIfTheyHadNeverBeen) {
  const TrainRig never(absl::StrCat("never_", GetParam().name));
  const TrainRig taught(absl::StrCat("taught_", GetParam().name));
  RigOptions options = Options(GetParam().sets, GetParam().ranks);
  taught.Unseed(options);
  options.skip_samples = {kForgotten};
  never.Unseed(options);
  const TrainRig forgot = Forget(taught, 2);
  const std::vector<Json> want = StepsAfter(never, 2);
  ASSERT_EQ(want.size(), 6u);
  EXPECT_EQ(StepsAfter(forgot, 2), want);
  EXPECT_NE(StepsAfter(taught, 2), want);
  // Having used some of them is not undone by passing over the rest.
  const TrainRig late = Forget(taught, 4);
  EXPECT_NE(StepsAfter(late, 4), StepsAfter(never, 4));
}

INSTANTIATE_TEST_SUITE_P(
    Rungs, UnlearningTest,
    testing::Values(Case{"bitwise",
                         {"guarantee=bitwise", "precision.mode=bf16"},
                         1,
                         1,
                         {"guarantee=bitwise", "precision.mode=bf16"}},
                    Case{"layouts",
                         {"guarantee=layout_invariant"},
                         1,
                         2,
                         {"guarantee=layout_invariant", "parallel.data=2"}}),
    [](const auto& info) { return std::string(info.param.name); });

// A replay says the same beforehand.
TEST(UnlearningReplayTest, AReplayTellsWhetherItIsExact) {
  const TrainRig rig("unlearning_replay");
  rig.Unseed(Options({"guarantee=bitwise"}, 1));
  const auto note = [&](int64_t from) {
    ReplayVerbOptions options = {.run_dir = rig.dir(), .from = from, .to = 6};
    options.skip_samples = {kForgotten};
    options.json = true;
    const auto answer = ReplayVerb(options);
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    return Json::parse(answer->text)["notes"].dump();
  };
  EXPECT_EQ(note(3).find("what they taught stays"), std::string::npos);
  EXPECT_NE(note(5).find("samples 20-27 were read before step 5"),
            std::string::npos)
      << note(5);
}

}  // namespace
}  // namespace lockstep
