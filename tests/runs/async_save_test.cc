// Checkpoints in the background: no bit of a run or of a checkpoint shows it,
// steps go on meanwhile, and what goes wrong ends the run as it does when steps
// wait.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ckpt/ledger.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Options(bool async, int64_t ranks = 1) {
  RigOptions options = {
      .recipe = SmallRecipe("async_save", 60),
      .sets = {"checkpoint.every=2", "eval.every=3",
               absl::StrCat("checkpoint.async=", async ? "true" : "false")},
      .steps = 9,
      .threads = 1,
      .ranks = ranks};
  if (ranks > 1) options.sets.push_back("guarantee=layout_invariant");
  return options;
}

std::vector<LedgerEntry> Ledger(const TrainRig& rig) {
  return ReadLedger(*PosixFileSystem(), rig.dir())->entries;
}

// Files of a checkpoint but the index, which has the ledger's head.
std::map<std::string, std::string> Files(const TrainRig& rig, int64_t step) {
  const std::string dir = absl::StrCat("checkpoints/step_0000000", step, "/");
  std::map<std::string, std::string> files;
  for (const std::string& name : rig.List(dir)) {
    if (absl::EndsWith(name, ".safetensors"))
      files[name] = rig.Read(dir + name);
  }
  return files;
}

// The data of shards; their headers name the run.
std::string DataOf(const std::string& shard) {
  uint64_t length = 0;
  std::memcpy(&length, shard.data(), sizeof(length));
  return shard.substr(sizeof(length) + length);
}

TEST(AsyncSaveTest, N12NoBitOfTheRunOrOfACheckpointShowsIt) {
  int64_t compared = 0;
  for (const int64_t ranks : {1, 2}) {
    const TrainRig on = SmallRig("async_on"), off = SmallRig("async_off");
    EXPECT_EQ(on.Unseed(Options(true, ranks)),
              off.Unseed(Options(false, ranks)));
    EXPECT_TRUE(SameLines(on.Metrics(), off.Metrics()));
    EXPECT_EQ(on.Read("eval.jsonl"), off.Read("eval.jsonl"));
    for (const int64_t step : {2, 4, 6, 8, 9}) {
      const auto a = Files(on, step), b = Files(off, step);
      ASSERT_EQ(a.size(), static_cast<size_t>(ranks)) << step;
      ASSERT_EQ(b.size(), a.size());
      for (const auto& [name, shard] : a) {
        EXPECT_TRUE(DataOf(shard) == DataOf(b.at(name))) << step << " " << name;
        ++compared;
      }
      EXPECT_EQ(EntriesOf(on, step), EntriesOf(off, step)) << step;
    }
  }
  EXPECT_EQ(compared, 5 + 10);
}

// The head in a checkpoint is of the moment of its copy; lines that came before
// its commit stand behind it.
TEST(AsyncSaveTest, TheLedgerHasEachSaveOnceAndItsChainHolds) {
  for (const bool async : {true, false}) {
    const TrainRig rig = SmallRig(absl::StrCat("async_ledger", async));
    RigOptions options = Options(async);
    options.sets.push_back("checkpoint.keep=2");
    rig.Unseed(options);
    std::vector<int64_t> saved;
    size_t removed = 0;
    for (const LedgerEntry& entry : Ledger(rig)) {
      const Json json = Json::parse(entry.line);
      if (entry.event == "retention") removed += json["removed"].size();
      if (entry.event != "checkpoint") continue;
      saved.push_back(json["step"]);
      EXPECT_GT(json["stall_ms"].get<double>(), 0);
      EXPECT_GE(json["save_ms"].get<double>(), json["stall_ms"].get<double>());
    }
    EXPECT_EQ(saved, (std::vector<int64_t>{2, 4, 6, 8, 9}));
    EXPECT_EQ(removed, 3u);
    EXPECT_EQ(rig.List("checkpoints").size(), 2u);
    const LedgerReport ledger = *ReadLedger(*PosixFileSystem(), rig.dir());
    for (const int64_t step : {8, 9}) {
      EXPECT_TRUE(ledger.Contains(
          IndexOf(rig, step)["ledger_head"].get<std::string>()));
    }
  }
}

// A kill that comes while the save of step 2 hangs finds later steps done; when
// steps wait for it, none. Either way the run goes on to the same bits.
TEST(AsyncSaveTest, StepsGoOnWhileADeviceIsSlow) {
  const TrainRig clean = SmallRig("async_clean");
  const std::string unseed = clean.Unseed(Options(true));
  for (const bool async : {true, false}) {
    const TrainRig rig = SmallRig(absl::StrCat("async_slow", async));
    RigOptions options = Options(async);
    options.sets[0] = "checkpoint.every=4";
    options.faults = {"kind=sleep,ms=3000,step=4,at=save.shard.write",
                      "kind=kill,step=4,at=save.shard.sync"};
    rig.TrainUntilKilled(options);
    const size_t steps = rig.Metrics().size();
    if (async) {
      EXPECT_GT(steps, 4u);
    } else {
      EXPECT_EQ(steps, 4u);
    }
    EXPECT_EQ(rig.List("checkpoints").size(), 1u);  // the dotted one
    EXPECT_EQ(rig.Unseed(Options(async)), unseed);
    EXPECT_TRUE(SameLines(rig.Metrics(), clean.Metrics()));
  }
}

// Same exit code and words, at the next step's end at the latest: the save of
// step 4 is waited for at step 6 in any case, and 5 takes no hour.
TEST(AsyncSaveTest, AFailureIsThatOfASaveThatIsWaitedFor) {
  for (const std::string fault : {"kind=eio,step=4,at=save.shard.write",
                                  "kind=enospc,step=4,at=save.shard.sync",
                                  "kind=eio,step=4,at=save.index.write",
                                  "kind=raise,step=4,at=save.step.rename",
                                  "kind=eio,step=4,at=save.del_step.rename"}) {
    std::map<bool, std::string> told;
    std::map<bool, int> codes;
    for (const bool async : {true, false}) {
      const TrainRig rig = SmallRig("async_fails");
      RigOptions options = Options(async, 2);
      options.sets.push_back("checkpoint.keep=1");
      options.faults = {fault + ",rank=0"};
      const RigResult result = rig.Train(options);
      codes[async] = ExitCodeFor(result.status);
      told[async] = std::string(result.status.message());
      EXPECT_GE(rig.Metrics().size(), 4u);
      EXPECT_LE(rig.Metrics().size(), 6u);
      EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "\"error\""));
    }
    EXPECT_EQ(codes[true], 7) << fault << ": " << told[true];
    EXPECT_EQ(codes[true], codes[false]);
    EXPECT_EQ(told[true], told[false]) << fault;
  }
}

TEST(AsyncSaveTest, AnotherRanksFailureEndsAllAndTheRunGoesOn) {
  const TrainRig clean = SmallRig("async_ranks"), rig = SmallRig("async_rank1");
  const std::string unseed = clean.Unseed(Options(true, 2));
  RigOptions options = Options(true, 2);
  options.faults = {"kind=enospc,step=4,rank=1,at=save.shard.write"};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 7) << result.status.message();
  EXPECT_TRUE(absl::StrContains(result.status.message(), "rank 1"));
  EXPECT_EQ(rig.List("checkpoints").size(), 1u);
  EXPECT_EQ(rig.Unseed(Options(true, 2)), unseed);
  EXPECT_TRUE(SameLines(rig.Metrics(), clean.Metrics()));
}

// What ends the run lets a save that is under way commit first.
TEST(AsyncSaveTest, ANumericFailureWaitsForTheSaveBeforeIt) {
  const TrainRig rig = SmallRig("async_nan");
  RigOptions options = Options(true);
  options.faults = {
      "kind=sleep,ms=300,step=4,at=save.shard.write",
      "kind=nan,step=5,at=layers.1.mixer.up_proj.forward,element=7"};
  EXPECT_EQ(ExitCodeFor(rig.Train(options).status), 5);
  EXPECT_TRUE(rig.Exists("checkpoints/step_00000004/index.json"));
  const std::vector<LedgerEntry> ledger = Ledger(rig);
  EXPECT_EQ(ledger.back().event, "stop");
  EXPECT_EQ(ledger[ledger.size() - 2].event, "checkpoint");
}

}  // namespace
}  // namespace lockstep
