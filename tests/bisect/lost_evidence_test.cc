// What a run's folder lacks is said, and what cannot be written is refused
// before the work.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"
#include "tools/compare/seeds_verb.h"
#include "tools/diff/diff_verb.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Options(const std::string& fault = "") {
  RigOptions options = {.sets = {"checkpoint.every=2"}, .threads = 1};
  if (!fault.empty()) options.faults = {fault};
  return options;
}

Json Bisected(const TrainRig& a, const TrainRig& b) {
  const auto result =
      Bisect(*PosixFileSystem(), {.a = a.dir(), .b = b.dir(), .threads = 1});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? Json::parse(BisectJson(*result)) : Json();
}

Json Diffed(const TrainRig& a, const TrainRig& b) {
  const auto answer =
      DiffVerb({.run_a = a.dir(), .run_b = b.dir(), .json = true});
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return answer.ok() ? Json::parse(answer->text) : Json();
}

// A ledger is evidence: one that is gone, or lost its end, is not silence.
TEST(LostEvidenceTest, ALedgerThatIsGoneIsSaid) {
  const TrainRig a("ledger_there"), b("ledger_gone");
  a.Unseed(Options());
  b.Unseed(Options());
  const std::string ledger = b.Read("ledger.jsonl");
  b.Write("ledger.jsonl", ledger.substr(0, ledger.find('\n') + 1));
  EXPECT_TRUE(absl::StrContains(Diffed(a, b)["only_in_b"].dump(), "cut off"));
  std::filesystem::remove(b.dir() + "/ledger.jsonl");
  EXPECT_TRUE(absl::StrContains(Diffed(a, b)["only_in_b"].dump(), "is gone"));
  EXPECT_EQ(Diffed(a, b)["only_in_a"], Json::array());
  const Json json = Bisected(a, b);
  EXPECT_EQ(json["verdict"], "equal") << json;
  EXPECT_TRUE(absl::StrContains(json["differences"].dump(), "is gone")) << json;
}

TEST(LostEvidenceTest, WhatReplayCannotReadIsNamedByLine) {
  const TrainRig rig("rubbish");
  rig.Unseed(Options());
  const std::string lines = rig.Read("metrics.jsonl");
  const size_t second = lines.find('\n') + 1;
  rig.Write("metrics.jsonl",
            lines.substr(0, second) + "rubbish\n" + lines.substr(second));
  const absl::Status status =
      ReplayVerb({.run_dir = rig.dir(), .from = 3, .to = 4}).status();
  EXPECT_EQ(ExitCodeFor(status), 2);
  EXPECT_TRUE(absl::StrContains(status.message(), "metrics.jsonl, line 2"))
      << status;
}

// Before a step is trained or done again.
TEST(OutputTest, WhatCannotBeWrittenIsRefusedBeforeTheWork) {
  const TrainRig a("output_a"), b("output_b");
  a.Unseed(Options());
  b.Unseed(Options(
      "kind=flip,bit=22,step=3,element=7,at=layers.0.mixer.in_proj.forward"));
  const std::string folder = testing::TempDir() + "/output_seeds";
  const std::string nowhere = a.dir() + "/nowhere/x.json";
  const absl::Status seeds = SeedsVerb({.recipe = "recipes/debug.toml",
                                        .seeds = 2,
                                        .folder = folder,
                                        .out = nowhere,
                                        .quiet = true})
                                 .status();
  EXPECT_EQ(ExitCodeFor(seeds), 2) << seeds;
  EXPECT_TRUE(absl::StrContains(seeds.message(), "--out")) << seeds;
  EXPECT_FALSE(std::filesystem::exists(folder));
  const std::string file = a.dir() + "/metrics.jsonl";
  for (const BisectVerbOptions& options :
       {BisectVerbOptions{.output = file + "/x"},
        BisectVerbOptions{.output = a.dir() + "_o", .html = a.dir()},
        BisectVerbOptions{.verify_fix = {a.dir(), "nowhere"},
        .output = a.dir() + "_o"}}) {
    BisectVerbOptions asked = options;
    asked.a = a.dir();
    asked.b = b.dir();
    const absl::Status refused = BisectVerb(asked).status();
    EXPECT_EQ(ExitCodeFor(refused), 2) << refused;
  }
  EXPECT_FALSE(std::filesystem::exists(a.dir() + "_o"));
}

}  // namespace
}  // namespace lockstep
