// `lockstep seeds`, and `compare` with its spread, on whole runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/compare/compare_for_test.h"
#include "tools/compare/seeds_verb.h"

namespace lockstep {
namespace {

class SeedsTest : public testing::Test {
 protected:
  SeedsTest() { PosixFileSystem()->RemoveTree(options_.folder).IgnoreError(); }
  Json Seeds(int64_t seeds) {
    options_.seeds = seeds;
    const auto answer = SeedsVerb(options_);
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    return answer.ok() ? Json::parse(answer->text) : Json();
  }
  std::filesystem::file_time_type TimeOf(const std::string& name) const {
    return std::filesystem::last_write_time(options_.folder + "/" + name);
  }

  SeedsOptions options_ = {
      .recipe = "recipes/debug.toml",
      .sets = {"train.steps=3", "schedule.warmup=1", "data.sequence=32"},
      .folder = testing::TempDir() + "/seeds",
      .out = testing::TempDir() + "/spread.json",
      .allow = {"dirty"},
      .reason = "a test",
      .json = true,
      .quiet = true};
};

TEST_F(SeedsTest, DoneRunsAreKeptAndTheSpreadIsOfAll) {
  Json spread = Seeds(1);
  EXPECT_TRUE(spread["sd"].is_null());
  const auto before = TimeOf("seed_1/ledger.jsonl");
  spread = Seeds(3);
  EXPECT_EQ(TimeOf("seed_1/ledger.jsonl"), before);
  ASSERT_EQ(spread["runs"].size(), 3u);
  EXPECT_EQ(spread["runs"][2]["seed"], 3);
  double sum = 0;
  for (const Json& run : spread["runs"]) sum += run["loss"].get<double>();
  EXPECT_NEAR(spread["mean"].get<double>(), sum / 3, 1e-12);
  EXPECT_GT(spread["sd"], 0.0);
  EXPECT_LT(spread["sd_interval"][0], spread["sd"]);
  EXPECT_GT(spread["sd_interval"][1], spread["sd"]);
  // Another recipe does not go on in the same folder.
  options_.sets.push_back("optimizer.lr=1e-3");
  const auto other = SeedsVerb(options_);
  EXPECT_EQ(ExitCodeFor(other.status()), 2);
  EXPECT_TRUE(absl::StrContains(other.status().message(), "another recipe"));
}

TEST_F(SeedsTest, OneRunAnArmNeedsTheSpread) {
  Seeds(3);
  CompareOptions options = {
      .baseline = {Trained("one_a", Seed(11))},
      .candidate = {Trained("one_b", Seed(12, {"optimizer.lr=2e-3"}))},
      .min_effect = 1e-6};
  Json told = Compared(options);
  EXPECT_EQ(told["verdict"], "inconclusive");
  EXPECT_TRUE(told["t"].is_null() && told["seeds_needed"].is_null());
  EXPECT_TRUE(absl::StrContains(told["notes"].dump(), "--spread"));
  options.spread = options_.out;
  told = Compared(options);
  EXPECT_EQ(told["dof"], 2.0);
  EXPECT_EQ(told["baseline"]["sd_from"], "spread");
  EXPECT_TRUE(absl::StrContains(told["notes"].dump(), "a proxy: it differs"))
      << told["notes"];
  // Numbers take it as well.
  options.baseline = {"2.412"};
  options.candidate = {"2.408"};
  EXPECT_EQ(Compared(options)["dof"], 2.0);
}

TEST_F(SeedsTest, ASpreadThatWasChangedIsRefused) {
  Seeds(2);
  const auto text = PosixFileSystem()->ReadFile(options_.out);
  ASSERT_TRUE(text.ok());
  Json wrong = Json::parse(*text);
  std::vector<Json> all(4, wrong);
  all[0]["runs"][0]["loss"] = 1.0;
  all[1]["trajectory_text"] = "model.hidden = 64\n";
  all[2]["runs"].erase(1);
  all[3].erase("identity");
  for (const Json& json : all) {
    const std::string path = testing::TempDir() + "/changed.json";
    ASSERT_TRUE(
        WriteFileAtomically(*PosixFileSystem(), path, json.dump()).ok());
    const auto answer = CompareVerb({.baseline = {"2.4"},
                                     .candidate = {"2.3"},
                                     .min_effect = 0.01,
                                     .spread = path});
    EXPECT_EQ(ExitCodeFor(answer.status()), 2) << json.dump();
  }
}

TEST(CompareArgumentsTest, WhatIsNeitherRunNorNumberIsTold) {
  for (const Names& bad :
       {Names{"2.4,x"}, Names{"no/such/run"}, Names{"nan"}, Names{"2.4,"},
        Names{testing::TempDir()}, Names{"1e308,-1e308"}, Names{"-1e9,2"},
        Names{"0x10,2"}, Names{"inf"}}) {
    const auto answer = CompareVerb(
        {.baseline = bad, .candidate = {"2.4,2.5"}, .min_effect = 0.01});
    EXPECT_EQ(ExitCodeFor(answer.status()), 2) << bad[0];
  }
  const auto numbers = CompareVerb({.baseline = {"2.412,2.418", "2.409,2.416"},
                                    .candidate = {"2.405,2.411,2.404,2.409"},
                                    .min_effect = 0.003});
  ASSERT_TRUE(numbers.ok());
  EXPECT_FALSE(numbers->negative);
  EXPECT_TRUE(absl::StartsWith(numbers->text, "improved"));
}

}  // namespace
}  // namespace lockstep
