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
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Saves a run of three steps as the trainer does: each checkpoint remembers the
// head of the ledger, and the ledger the checkpoint.
void WriteRun(FileSystem& fs, const std::string& run_dir) {
  ManualClock clock{1000};
  auto ledger = *Ledger::Open(fs, run_dir, clock, nullptr);
  Manifest manifest = Sample();
  manifest.run_id = "run-a";
  manifest.ledger_head = ledger->Head();
  ASSERT_TRUE(WriteManifest(fs, run_dir, manifest).ok());
  ASSERT_TRUE(ledger->Append("launch").ok());
  for (int64_t step = 1; step <= 3; ++step) {
    const TestState state(step);
    SaveOptions options = OptionsFor(step);
    options.run_dir = run_dir;
    options.ledger_head = ledger->Head();
    options.manifest_json = ManifestToJson(manifest);
    ASSERT_TRUE(SaveCheckpoint(fs, options, state.registry).ok());
    ASSERT_TRUE(ledger->Append("checkpoint", {{"step", step}}).ok());
  }
}

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

// Cut off after a whole line: the file is a chain, and a checkpoint knows more.
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
    // The last checkpoint remembers the head before its own event.
    const bool remembered = end < *std::next(ends.begin(), 2);
    EXPECT_EQ(result.ok, !remembered) << end;
    if (remembered) {
      EXPECT_EQ(result.damage[0].file, "ledger.jsonl");
      EXPECT_EQ(result.damage[0].from, end);
      EXPECT_NE(result.damage[0].what.find("lost lines"), std::string::npos);
    }
  }
  ASSERT_TRUE(fs.Remove(Path("ledger.jsonl")).ok());
  EXPECT_FALSE(Verify().ok);
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

// A shard that is a link may change under whoever has checked it.
TEST(Links, AreDamageAndAreNotLoaded) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/links";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  WriteRun(disk, run);
  const std::string dir = run + "/checkpoints/step_00000003";
  for (const std::string name : {"rank_00000.safetensors", "manifest.json"}) {
    const std::string path = JoinPath(dir, name);
    ASSERT_TRUE(disk.Rename(path, run + "/away").ok());
    ASSERT_EQ(symlink((run + "/away").c_str(), path.c_str()), 0);
    const RunVerifyResult result = *VerifyRun(disk, run);
    ASSERT_EQ(result.damage.size(), 1u);
    EXPECT_EQ(result.damage[0].file, "checkpoints/step_00000003/" + name);
    EXPECT_EQ(result.damage[0].what, "is a symbolic link");
    TestState state(1);
    const auto loaded = LoadCheckpoint(disk, dir, state.registry);
    EXPECT_EQ(ExitCodeFor(loaded.status()), 4) << name;
    ASSERT_TRUE(disk.Remove(path).ok());
    ASSERT_TRUE(disk.Rename(run + "/away", path).ok());
  }
  EXPECT_TRUE(VerifyRun(disk, run)->ok);
}

}  // namespace
}  // namespace lockstep
