// Segments of a run, done again: a sound run passes, and whatever was changed
// afterwards, or came out otherwise on a bad machine, is found.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ckpt/verify.h"
#include "determinism/status.h"
#include "tests/audit/forge_for_test.h"
#include "tests/cases/small_run.h"
#include "tools/audit.h"
#include "tools/audit_verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr int64_t kAll = 1'000'000;

// Eight steps, a checkpoint after each second one.
TrainRig MadeRun(const std::string& name,
                 const std::vector<std::string>& faults = {}) {
  const TrainRig rig = SmallRig(name);
  rig.Unseed({.recipe = SmallRecipe(name, 60),
              .sets = {"checkpoint.every=2", "model.hidden_dropout=0.1"},
              .steps = 8,
              .faults = faults});
  return rig;
}

struct Verdict {
  bool negative = false;
  Json json;
};

Verdict Verify(const TrainRig& rig, int64_t segments = kAll, int64_t seed = 1) {
  const auto answer = VerifyVerb({.path = rig.dir(),
                                  .segments = segments,
                                  .seed = seed,
                                  .threads = 1,
                                  .json = true});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return {answer->negative, Json::parse(answer->text)};
}

// "from-to" of those that do not hold.
std::set<std::string> BadOnes(const Verdict& verdict) {
  std::set<std::string> bad;
  for (const Json& s : verdict.json["segments"]) {
    if (!s["ok"])
      bad.insert(
          absl::StrCat(s["from"].get<int64_t>(), "-", s["to"].get<int64_t>()));
  }
  EXPECT_EQ(verdict.negative, !bad.empty());
  EXPECT_EQ(verdict.json["ok"], bad.empty());
  return bad;
}

using Bad = std::set<std::string>;

TEST(VerifyRunTest, ASoundRunRecursInEverySegment) {
  const TrainRig rig = MadeRun("sound");
  const std::string metrics = rig.Read("metrics.jsonl");
  const Verdict all = Verify(rig);
  EXPECT_EQ(BadOnes(all), Bad{});
  EXPECT_EQ(all.json["segments"].size(), 4u);
  EXPECT_EQ(all.json["chance"], "4/4");
  const Verdict some = Verify(rig, 2, 5);
  EXPECT_EQ(some.json["chance"], "2/4");
  EXPECT_EQ(some.json["replayed"], 2);
  EXPECT_EQ(some.json["of"], 4);
  const auto text = VerifyVerb({.path = rig.dir(), .segments = 2, .seed = 5});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->text.find("with probability 2/4"), std::string::npos);
  EXPECT_EQ(rig.Read("metrics.jsonl"), metrics);  // nothing was written
}

TEST(VerifyRunTest, AChangedLineOfTheMetricsIsFound) {
  const TrainRig rig = MadeRun("line");
  std::string metrics = rig.Read("metrics.jsonl");
  const size_t line = metrics.find("\"step\":5,");
  const size_t at = metrics.find("\"grad_norm_bits\":\"", line) + 30;
  metrics[at] = metrics[at] == '0' ? '1' : '0';
  rig.Write("metrics.jsonl", metrics);
  const Verdict verdict = Verify(rig);
  EXPECT_EQ(BadOnes(verdict), Bad{"4-6"});
  EXPECT_EQ(verdict.json["segments"][2]["first_difference"], 5);
  EXPECT_EQ(verdict.json["segments"][2]["fields"],
            Json::parse("[\"grad_norm_bits\"]"));
}

// All hashes hold, so no other check sees it.
TEST(VerifyRunTest, AForgedCheckpointIsFoundByItsBytes) {
  const TrainRig rig = MadeRun("forged");
  const std::string name = "optimizer/lm_head.weight.exp_avg_sq";
  const std::string checkpoint = rig.dir() + "/checkpoints/step_00000004";
  ForgeTensor(checkpoint, name);
  EXPECT_TRUE(VerifyCheckpoint(*PosixFileSystem(), checkpoint)->ok);
  const Verdict verdict = Verify(rig);
  // What ends in it, and what begins with it.
  EXPECT_EQ(BadOnes(verdict), (Bad{"2-4", "4-6"}));
  EXPECT_EQ(verdict.json["segments"][1]["tensors"], Json::array({name}));
  EXPECT_EQ(verdict.json["segments"][1]["first_difference"], 0);
}

TEST(VerifyRunTest, ADamagedOneIsFoundAndNotWalkedPast) {
  const TrainRig rig = MadeRun("damaged");
  const std::string file = "checkpoints/step_00000004/rank_00000.safetensors";
  std::string bytes = rig.Read(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  rig.Write(file, bytes);
  EXPECT_EQ(BadOnes(Verify(rig)), (Bad{"2-4", "4-6"}));
}

// A bit that a machine flipped, and that no program would flip again.
TEST(VerifyRunTest, ABitThatAMachineFlippedIsFound) {
  const TrainRig rig =
      MadeRun("flipped", {"kind=flip,step=5,at=embeddings.lookup.forward,"
                          "element=3,bit=20,replayed=no"});
  EXPECT_EQ(BadOnes(Verify(rig)), Bad{"4-6"});
}

// Below `layout_invariant` the ranks of a run are needed to have its bits.
TEST(VerifyRunTest, SeveralRanksAreDoneAgainAsSeveral) {
  const RigOptions options = {.recipe = SmallRecipe("ranks", 60),
                              .sets = {"checkpoint.every=2", "parallel.data=2"},
                              .steps = 6,
                              .threads = 1,
                              .ranks = 2};
  const TrainRig sound = SmallRig("ranks_sound"), bad = SmallRig("ranks_bad");
  sound.Unseed(options);
  const Verdict verdict = Verify(sound);
  EXPECT_EQ(BadOnes(verdict), Bad{});
  EXPECT_EQ(verdict.json["segments"][0]["ranks"], 2);
  RigOptions faulty = options;
  faulty.faults = {
      "kind=flip,step=3,rank=1,at=embeddings.lookup.forward,element=3,bit=20,"
      "replayed=no"};
  bad.Unseed(faulty);
  EXPECT_EQ(BadOnes(Verify(bad)), Bad{"2-4"});
}

TEST(VerifyRunTest, AForkBeginsAtItsParentsState) {
  const TrainRig rig = MadeRun("parent"), child = SmallRig("child");
  child.Unseed({.recipe = SmallRecipe("parent", 60),
                .sets = {"checkpoint.every=2", "model.hidden_dropout=0.1"},
                .steps = 8,
                .fork = rig.dir() + "/checkpoints/step_00000004"});
  const Verdict verdict = Verify(child);
  EXPECT_EQ(BadOnes(verdict), Bad{});
  EXPECT_EQ(verdict.json["of"], 2);
}

TEST(VerifyRunTest, WithoutARunOrASegmentItIsTheUsersInput) {
  const TrainRig rig = SmallRig("nothing");
  rig.Unseed({.recipe = SmallRecipe("nothing", 60), .steps = 4, .until = 2});
  FileSystem& fs = *PosixFileSystem();
  ASSERT_TRUE(fs.RemoveTree(rig.dir() + "/checkpoints").ok());
  EXPECT_EQ(ExitCodeFor(SegmentsOf(fs, rig.dir()).status()), 2);
  EXPECT_EQ(ExitCodeFor(SegmentsOf(fs, rig.dir() + "/no").status()), 2);
}

}  // namespace
}  // namespace lockstep
