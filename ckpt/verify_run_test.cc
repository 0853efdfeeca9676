// A run's folder: every bit of what it keeps about itself.

#include "ckpt/verify_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <set>

#include "ckpt/ledger.h"
#include "ckpt/load.h"
#include "ckpt/manifest.h"
#include "ckpt/manifest_for_test.h"
#include "ckpt/test_state.h"
#include "ckpt/whole_run_for_test.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

class VerifyRunTest : public testing::Test {
 protected:
  VerifyRunTest() {
    MakeRun(fs);
    WriteRun(fs, kRun);
  }
  RunVerifyResult Verify() { return *VerifyRun(fs, kRun); }
  std::string Path(const std::string& file) { return JoinPath(kRun, file); }
  std::string Read(const std::string& file) { return *fs.ReadFile(Path(file)); }

  // Each bit, or each `stride`-th: found, in this file, where it is.
  int64_t ExpectFlipsFound(const std::string& file, size_t stride) {
    const std::string good = Read(file);
    int64_t flips = 0;
    for (size_t bit = 0; bit < good.size() * 8; bit += stride, ++flips) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      Overwrite(fs, Path(file), bad);
      const RunVerifyResult result = Verify();
      EXPECT_FALSE(result.ok) << file << " bit " << bit;
      if (result.ok || testing::Test::HasFailure()) return flips;
      const Damage& damage = result.damage[0];
      EXPECT_EQ(damage.file, file) << bit;
      EXPECT_TRUE(damage.from <= bit / 8 && bit / 8 < damage.to)
          << file << " bit " << bit << ": " << damage.from << " to "
          << damage.to << " " << damage.what;
    }
    Overwrite(fs, Path(file), good);
    return flips;
  }

  MemoryFileSystem fs;
};

TEST_F(VerifyRunTest, AWholeRunIsOk) {
  const RunVerifyResult result = Verify();
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(RunVerifyResultToJson(result),
            R"({"ok":true,"steps":[1,2,3],"ledger_lines":4,"manifests":4,)"
            R"("damage":[]})");
}

TEST_F(VerifyRunTest, FlippedBitsAreFoundWhereTheyAre) {
  int64_t flips = ExpectFlipsFound("ledger.jsonl", 5);
  flips += ExpectFlipsFound("manifest.json", 37);
  const std::string folder = "checkpoints/step_00000002/";
  flips += ExpectFlipsFound(folder + "index.json", 241);
  flips += ExpectFlipsFound(folder + "rank_00000.safetensors", 97);
  EXPECT_GT(flips, 1000);
  EXPECT_TRUE(Verify().ok);
}

// Cut off after a whole line: the file is a chain, and others know more of it.
TEST_F(VerifyRunTest, ALedgerThatLostItsEndIsSeen) {
  const std::string whole = Read("ledger.jsonl");
  std::set<size_t> ends;
  for (size_t at = 0; (at = whole.find('\n', at)) != std::string::npos;) {
    ends.insert(++at);
  }
  ASSERT_EQ(ends.size(), 4u);
  for (const size_t end : ends) {
    Overwrite(fs, Path("ledger.jsonl"), whole.substr(0, end));
    const RunVerifyResult result = Verify();
    EXPECT_EQ(result.ok, end == whole.size()) << end;
    if (result.ok) continue;
    EXPECT_EQ(result.damage[0].file, "ledger.jsonl");
    EXPECT_EQ(result.damage[0].from, end);
    EXPECT_NE(result.damage[0].what.find("lost lines"), std::string::npos);
  }
  ASSERT_TRUE(fs.Remove(Path("ledger.jsonl")).ok());
  EXPECT_FALSE(Verify().ok);
}

// One event is behind the last checkpoint: only ledger_head knows of it.
TEST_F(VerifyRunTest, TheNewestHeadIsHeldAndIsItselfChecked) {
  const std::string ledger = Read("ledger.jsonl"), head = Read("ledger_head");
  EXPECT_EQ(ExpectFlipsFound("ledger_head", 1), 82 * 8);
  for (const std::string& bad : {head.substr(0, 81), head + " "}) {
    Overwrite(fs, Path("ledger_head"), bad);
    EXPECT_FALSE(Verify().ok) << bad;
  }
  ASSERT_TRUE(fs.Remove(Path("ledger_head")).ok());
  EXPECT_EQ(Verify().damage[0].what, "is missing");
  // A launch says that lines are gone, and goes on.
  Overwrite(fs, Path("ledger_head"), head);
  Overwrite(fs, Path("ledger.jsonl"),
            ledger.substr(0, ledger.rfind('\n', ledger.size() - 2) + 1));
  ManualClock clock{2000};
  const auto opened = *Ledger::Open(fs, kRun, clock, nullptr);
  ASSERT_EQ(opened->entries().size(), 4u);
  EXPECT_EQ(opened->entries()[3].event, "lost_lines");
  EXPECT_EQ(opened->entries()[3].Field("head"), head.substr(0, 64));
  EXPECT_TRUE(Verify().ok);
}

TEST_F(VerifyRunTest, ALaunchsManifestThatTheLedgerNamesMustBeThere) {
  const std::string file = "launches/launch_00000001.json";
  ManualClock clock{2000};
  ASSERT_TRUE(fs.MakeDirs(Path("launches")).ok());
  Overwrite(fs, Path(file), Read("manifest.json"));
  ASSERT_TRUE((*Ledger::Open(fs, kRun, clock, nullptr))
                  ->Append("resume", {{"manifest", file}})
                  .ok());
  EXPECT_TRUE(Verify().ok);
  EXPECT_EQ(Verify().manifests, 5);
  ASSERT_TRUE(fs.RemoveTree(Path("launches")).ok());
  ASSERT_EQ(Verify().damage.size(), 1u);
  EXPECT_EQ(Verify().damage[0].file, file);
  EXPECT_EQ(Verify().damage[0].what, "is missing");
}

TEST_F(VerifyRunTest, SwappedAndMissingFilesAreNamed) {
  const std::string one = "checkpoints/step_00000001/rank_00000.safetensors";
  const std::string two = "checkpoints/step_00000002/rank_00000.safetensors";
  const std::string bytes = Read(one);
  Overwrite(fs, Path(one), Read(two));
  Overwrite(fs, Path(two), bytes);
  std::set<std::string> files;
  for (const Damage& damage : Verify().damage) files.insert(damage.file);
  EXPECT_EQ(files, (std::set<std::string>{one, two}));
  ASSERT_TRUE(fs.Remove(Path(two)).ok());
  ASSERT_TRUE(fs.Remove(Path("manifest.json")).ok());
  files.clear();
  for (const Damage& damage : Verify().damage) files.insert(damage.file);
  EXPECT_EQ(files, (std::set<std::string>{"manifest.json", one, two}));
}

TEST_F(VerifyRunTest, ACheckpointThatIsGoneAsAWholeIsNamed) {
  ASSERT_TRUE(fs.RemoveTree(Path("checkpoints/step_00000003")).ok());
  const RunVerifyResult result = Verify();
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.damage.size(), 1u);
  EXPECT_EQ(result.damage[0].file, "checkpoints/step_00000003");
  EXPECT_EQ(result.damage[0].what, "the ledger has it, and it is gone");
  ManualClock clock{2000};
  ASSERT_TRUE(
      (*Ledger::Open(fs, kRun, clock, nullptr))
          ->Append("retention",
                   {{"removed", std::vector<std::string>{"step_00000003"}}})
          .ok());
  EXPECT_TRUE(Verify().ok);
}

// Sound in itself, and no resume of this run takes it.
TEST_F(VerifyRunTest, AnotherRunsCheckpointIsDamage) {
  Manifest manifest = *ReadManifest(fs, kRun);
  manifest.run_id = "run-b";
  const TestState state(3);
  SaveOptions options = OptionsFor(3);
  options.run_dir = kRun;
  options.run_id = "run-b";
  options.manifest_json = ManifestToJson(manifest);
  ASSERT_TRUE(fs.RemoveTree(Path("checkpoints/step_00000003")).ok());
  ASSERT_TRUE(SaveCheckpoint(fs, options, state.registry).ok());
  const RunVerifyResult result = Verify();
  ASSERT_EQ(result.damage.size(), 1u);
  EXPECT_EQ(result.damage[0].file, "checkpoints/step_00000003/index.json");
  EXPECT_EQ(result.damage[0].what, "is of run run-b, and this is run run-a");
}

}  // namespace
}  // namespace lockstep
