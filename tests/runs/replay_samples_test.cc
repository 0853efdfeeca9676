// What `replay` shows of samples, and the remedies that leave some out.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/runs/replay_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Both ranks' samples, each as `explain` has it.
TEST(ReplaySamplesTest, EverySampleOfEveryStepIsShown) {
  const TrainRig rig("replay_samples");
  rig.Unseed(TwoRanks("layout_invariant"));
  const Replayed window = Replay(rig, {.from = 4, .to = 5, .full = true});
  int64_t compared = 0;
  for (const Json& step : window.json["steps"]) {
    ExplainOptions explain = {.run_dir = rig.dir(), .step = step["step"]};
    explain.json = explain.full = true;
    explain.window = 0;
    const auto answer = ExplainVerb(explain);
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    std::map<uint64_t, Json> explained;
    const Json told = Json::parse(answer->text);
    for (const Json& sample : told["samples"]) {
      explained[sample["global_index"]] = sample;
    }
    ASSERT_EQ(step["samples"].size(), explained.size());
    for (const Json& sample : step["samples"]) {
      const Json& other = explained[sample["global_index"]];
      for (const char* key :
           {"documents", "loss_bits", "text", "longest_run", "ngrams",
            "non_text_share", "first_token", "source"}) {
        EXPECT_EQ(sample[key], other[key]) << key;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 2 * 8 * 8);
  ReplayVerbOptions text = {.run_dir = rig.dir(), .from = 4, .to = 4};
  text.full = true;
  const auto shown = ReplayVerb(text);
  ASSERT_TRUE(shown.ok());
  EXPECT_NE(shown->text.find("document "), std::string::npos) << shown->text;
}

std::set<uint64_t> SamplesOf(const Json& step) {
  std::set<uint64_t> ids;
  for (const Json& sample : step["samples"])
    ids.insert(sample["global_index"].get<uint64_t>());
  return ids;
}

TEST(ReplaySamplesTest, ADocumentIsLeftOutByItsSamples) {
  const TrainRig rig("replay_without");
  rig.Unseed(TwoRanks("bitwise"));
  const Replayed all = Replay(rig, {.from = 4, .to = 5});
  const Json& first = all.json["steps"][0]["samples"][0];
  const int64_t document = first["documents"][0]["document"];
  const std::string name = absl::StrCat("0:", document);
  const Replayed without = Replay(rig, {.from = 4, .to = 5, .without = {name}});
  EXPECT_EQ(without.json["promised"], false);
  const std::vector<std::string> skipped = without.json["remedy"]["skipped"];
  ASSERT_FALSE(skipped.empty());
  for (const Json& step : without.json["steps"]) {
    EXPECT_FALSE(SamplesOf(step).contains(first["global_index"]));
    EXPECT_EQ(step["samples"].size(), 8u);
    for (const Json& sample : step["samples"]) {
      for (const Json& part : sample["documents"]) {
        EXPECT_NE(part["document"], document);
      }
    }
  }
  const Replayed ranges =
      Replay(rig, {.from = 4, .to = 5, .skip_samples = skipped});
  EXPECT_EQ(ranges.json["steps"], without.json["steps"]);
  for (const char* bad : {"", ":3", "x", "0:-1", "0:x", "1:0", "0:99999999"}) {
    ReplayVerbOptions options = {.run_dir = rig.dir(), .from = 4, .to = 5};
    options.without = {bad};
    EXPECT_EQ(ExitCodeFor(ReplayVerb(options).status()), 2) << bad;
  }
}

TEST(ReplaySamplesTest, AnotherRateIsTheSettingOfThatName) {
  const TrainRig rig("replay_rate");
  rig.Unseed(TwoRanks("bitwise"));
  const Replayed rate = Replay(rig, {.from = 3, .to = 4, .lr = "1e-9"});
  const Replayed set =
      Replay(rig, {.from = 3, .to = 4, .sets = {"optimizer.lr=1e-9"}});
  EXPECT_EQ(rate.json["steps"], set.json["steps"]);
  EXPECT_NE(rate.json["verdict"], "recurs_to_the_bit");
  ReplayVerbOptions bad = {.run_dir = rig.dir(), .from = 3, .to = 4};
  bad.lr = "fast";
  EXPECT_EQ(ExitCodeFor(ReplayVerb(bad).status()), 2);
}

}  // namespace
}  // namespace lockstep
