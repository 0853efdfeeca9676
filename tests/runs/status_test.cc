// `lockstep status`: from the folder alone, of a run in any state.
#include "tools/status.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ckpt/run_lock.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

Json Status(const TrainRig& rig) {
  const auto answer = StatusVerb({.run_dir = rig.dir(), .json = true});
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  const auto text = StatusVerb({.run_dir = rig.dir()});
  EXPECT_TRUE(text.ok() && absl::StrContains(text->text, "last event"));
  return answer.ok() ? Json::parse(answer->text) : Json();
}

// Name, size and time of every file below.
std::string Picture(const std::string& dir) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    absl::StrAppend(&text, entry.path().string(), " ",
                    entry.is_regular_file() ? entry.file_size() : 0, " ",
                    entry.last_write_time().time_since_epoch().count(), "\n");
  }
  return text;
}

TEST(StatusTest, OfARunThatStoppedAndOneThatIsDone) {
  const TrainRig rig("status");
  rig.Unseed({.sets = {"checkpoint.every=2"}, .steps = 5, .until = 3});
  Json status = Status(rig);
  const Json last = Json::parse(rig.Metrics().back());
  EXPECT_EQ(status["step"], 3);
  EXPECT_EQ(status["steps"], 5);
  EXPECT_EQ(status["loss"], last["loss"]);
  EXPECT_GT(status["tokens_per_s"].get<double>(), 0);
  EXPECT_EQ(status["checkpoint"]["step"], 3);
  EXPECT_EQ(status["run_id"], status["lineage"]);
  EXPECT_TRUE(status["parent"].is_null());
  EXPECT_EQ(status["layout"]["threads"], 2);
  EXPECT_EQ(status["trainer"]["state"], "none");
  EXPECT_EQ(status["last_event"]["event"], "stop");
  EXPECT_TRUE(status["ranks"].empty());
  EXPECT_TRUE(status["problems"].empty()) << status["problems"];
  // A longer run is one more launch, which says its length.
  rig.Unseed({.steps = 6});
  status = Status(rig);
  EXPECT_EQ(status["step"], 6);
  EXPECT_EQ(status["steps"], 6);
}

TEST(StatusTest, ItOnlyReads) {
  const TrainRig rig("status_reads");
  rig.Unseed({.steps = 2});
  const std::string before = Picture(rig.dir());
  Status(rig);
  EXPECT_EQ(Picture(rig.dir()), before);
}

// While a trainer is alive, and halfway through its lines.
TEST(StatusTest, OfALiveRunWithHalfWrittenLines) {
  const TrainRig rig("status_live");
  rig.Unseed({.steps = 4, .until = 2});
  RealClock clock;
  {
    const auto lock = RunLock::Acquire(*PosixFileSystem(), *PosixFileLocker(),
                                       rig.dir(), ThisProcess(), clock);
    ASSERT_TRUE(lock.ok());
    for (const char* file : {"metrics.jsonl", "ledger.jsonl", "lock"}) {
      auto open = PosixFileSystem()->OpenAppend(rig.dir() + "/" + file);
      ASSERT_TRUE(open.ok() && (*open)->Append("{\"step\":3,\"lo").ok() &&
                  (*open)->Close().ok());
    }
    const Json status = Status(rig);
    EXPECT_EQ(status["step"], 2);
    EXPECT_EQ(status["trainer"]["state"], "alive");
    EXPECT_EQ(status["trainer"]["pid"], ThisProcess().pid);
    EXPECT_EQ(status["last_event"]["event"], "stop");
    EXPECT_TRUE(status["problems"].empty()) << status["problems"];
  }
  EXPECT_EQ(Status(rig)["trainer"]["state"], "none");
}

TEST(StatusTest, ADamagedNewestCheckpointIsToldAndNotCounted) {
  const TrainRig rig("status_damaged");
  rig.Unseed({.sets = {"checkpoint.every=1"}, .steps = 3});
  rig.Write("checkpoints/step_00000003/index.json", "{}");
  const Json status = Status(rig);
  EXPECT_EQ(status["checkpoint"]["step"], 2);
  EXPECT_EQ(status["problems"].size(), 1u);
}

TEST(StatusTest, LastWordsOfRanksAndAStopWithItsError) {
  const TrainRig rig("status_ranks");
  RigOptions options = {.steps = 3};
  options.faults = {
      "kind=nan,step=2,at=layers.3.mixer.o_proj.backward,element=5"};
  EXPECT_EQ(ExitCodeFor(rig.Train(options).status), 5);
  ASSERT_TRUE(PosixFileSystem()->MakeDirs(rig.dir() + "/ranks").ok());
  rig.Write("ranks/0.json", R"({"state":"stopped"})");
  rig.Write("ranks/1.json", R"({"state":)");
  const Json status = Status(rig);
  EXPECT_EQ(status["step"], 1);
  EXPECT_EQ(status["ranks"]["0"]["state"], "stopped");
  EXPECT_EQ(status["ranks"]["1"]["unreadable"], true);
  EXPECT_FALSE(status["ranks"]["0"].contains("earlier_launch"));
  EXPECT_TRUE(absl::StrContains(
      status["last_event"]["error"].get<std::string>(), "not finite"));
  EXPECT_TRUE(status["checkpoint"].is_null());
}

// After a run went on, its layout is that of the last launch, and what ranks
// said before is of an earlier one.
TEST(StatusTest, OfARunThatWentOnOnAnotherLayout) {
  const TrainRig rig("status_moved");
  RigOptions options = {.sets = {"guarantee=layout_invariant"}, .steps = 4};
  options.until = 2;
  rig.Unseed(options);
  ASSERT_TRUE(PosixFileSystem()->MakeDirs(rig.dir() + "/ranks").ok());
  rig.Write("ranks/1.json", R"({"rank":1})");
  options.until.reset();
  options.ranks = 2;
  rig.Unseed(options);
  const Json status = Status(rig);
  EXPECT_EQ(status["layout"]["data"], 2);
  EXPECT_EQ(status["ranks"]["1"]["earlier_launch"], true);
}

TEST(StatusTest, OfAForkBeforeAndAfterItsFirstStep) {
  const TrainRig parent("status_parent"), fork("status_fork");
  parent.Unseed({.steps = 3, .until = 2});
  fork.Unseed(
      {.steps = 3, .fork = parent.dir() + "/checkpoints/step_00000002"});
  fork.Write("metrics.jsonl", "");
  const Json status = Status(fork);
  EXPECT_EQ(status["step"], 2);
  EXPECT_EQ(status["parent"]["step"], 2);
  EXPECT_EQ(status["parent"]["run_id"], Status(parent)["run_id"]);
}

TEST(StatusTest, NoRunIsExit2) {
  const TrainRig rig("status_nowhere");
  EXPECT_EQ(ExitCodeFor(StatusVerb({.run_dir = rig.dir()}).status()), 2);
}

TEST(StatusTest, TheLockIsJudgedFromItsTextAndTheKernels) {
  const std::string lock =
      "{\"generation\":1,\"pid\":7,\"host\":\"a\",\"time_ms\":5}\n"
      "{\"generation\":2,\"pid\":41,\"host\":\"a\",\"time_ms\":6}\n{\"gen";
  const std::string held =
      "1: POSIX  ADVISORY  WRITE 41 fe:00:99 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 41 fe:00:99 0 EOF\n";
  const auto state = [&](const std::string& host, bool ended,
                         const std::string& locks, uint64_t inode) {
    return std::string(
        NameOf(JudgeLock(lock, host, ended, locks, inode).state));
  };
  EXPECT_EQ(JudgeLock(lock, "a", false, held, 99).generation, 2);
  EXPECT_EQ(state("a", false, held, 99), "alive");
  EXPECT_EQ(state("a", true, held, 99), "alive");
  EXPECT_EQ(state("a", false, held, 9), "stale") << "another file's lock";
  EXPECT_EQ(state("a", false, held.substr(0, held.find('2')), 99), "stale");
  EXPECT_EQ(state("a", true, "", 99), "none");
  EXPECT_EQ(state("b", false, held, 99), "elsewhere");
  EXPECT_EQ(state("b", true, "", 99), "none");
  EXPECT_EQ(std::string(NameOf(JudgeLock("", "a", false, held, 99).state)),
            "none");
}

}  // namespace
}  // namespace lockstep
