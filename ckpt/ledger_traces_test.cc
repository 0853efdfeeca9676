// A ledger that was cut off cleanly together with ledger_head: what remains
// says so, once.
#include "ckpt/ledger_traces.h"

#include <gtest/gtest.h>

#include "ckpt/ledger_head.h"
#include "ckpt/manifest.h"
#include "ckpt/verify_run.h"
#include "ckpt/whole_run_for_test.h"
#include "determinism/memory_file_system.h"

namespace lockstep {
namespace {

class LedgerTracesTest : public testing::Test {
 protected:
  LedgerTracesTest() {
    MakeRun(fs);
    WriteRun(fs, kRun);
  }

  // Leaves so many lines, and a ledger_head that fits them or none.
  void Cut(size_t lines, bool head_too) {
    const LedgerReport ledger = *ReadLedger(fs, kRun);
    std::string text;
    for (size_t i = 0; i < lines; ++i) text += ledger.entries[i].line + "\n";
    Overwrite(fs, JoinPath(kRun, "ledger.jsonl"), text);
    ASSERT_TRUE(
        WriteLedgerHead(fs, kRun, ledger.entries[lines - 1].sha256).ok());
    if (!head_too) {
      ASSERT_TRUE(fs.Remove(JoinPath(kRun, kLedgerHeadFile)).ok());
    }
  }

  std::vector<std::string> Traces() {
    return TracesOfLostLines(fs, kRun, ReadLedger(fs, kRun)->entries);
  }

  MemoryFileSystem fs;
  ManualClock clock{2000};
};

TEST_F(LedgerTracesTest, AWholeLedgerLeavesNone) {
  EXPECT_TRUE(Traces().empty());
  // A kill between the last commit and its line.
  Cut(3, true);
  EXPECT_TRUE(Traces().empty());
}

TEST_F(LedgerTracesTest, ACheckpointThatNoLineTellsOf) {
  Cut(2, true);
  EXPECT_EQ(Traces(), std::vector<std::string>{
                          "no line tells of checkpoints/step_00000002"});
  const RunVerifyResult result = *VerifyRun(fs, kRun);
  ASSERT_FALSE(result.ok);
  EXPECT_NE(result.damage.back().what.find("no line tells of"),
            std::string::npos);
  // A resume from it tells of it.
  auto ledger = *Ledger::Open(fs, kRun, clock, nullptr);
  ASSERT_TRUE(ledger->Append("resume", {{"step", int64_t{2}}}).ok());
  EXPECT_TRUE(Traces().empty());
}

TEST_F(LedgerTracesTest, ALaunchThatRemembersMore) {
  const std::string file = "launches/launch_00000002.json";
  Manifest manifest = *ReadManifest(fs, kRun);
  manifest.ledger_head = ReadLedger(fs, kRun)->entries.back().sha256;
  ASSERT_TRUE(fs.MakeDirs(JoinPath(kRun, "launches")).ok());
  Overwrite(fs, JoinPath(kRun, file), ManifestToJson(manifest));
  EXPECT_TRUE(Traces().empty());
  Cut(3, true);
  const std::string trace =
      file + " remembers its head " + manifest.ledger_head;
  EXPECT_EQ(Traces(), std::vector<std::string>{trace});
  EXPECT_FALSE(VerifyRun(fs, kRun)->ok);
  // On record it is said no more.
  auto ledger = *Ledger::Open(fs, kRun, clock, nullptr);
  ASSERT_TRUE(ledger->Append("lost_lines", {{"traces", Traces()}}).ok());
  EXPECT_TRUE(Traces().empty());
  EXPECT_EQ(*LaunchFiles(fs, kRun), std::vector<std::string>{file});
}

// Neither lines nor a head to hold them against: that alone is on record.
TEST_F(LedgerTracesTest, AMissingHeadIsWrittenDown) {
  Cut(3, false);
  const auto ledger = *Ledger::Open(fs, kRun, clock, nullptr);
  ASSERT_EQ(ledger->entries().size(), 4u);
  EXPECT_EQ(ledger->entries()[3].event, "lost_lines");
  EXPECT_EQ(ledger->entries()[3].Field("head"), "missing");
  EXPECT_EQ(ledger->entries()[3].Field("after"), "3");
  EXPECT_EQ((*Ledger::Open(fs, kRun, clock, nullptr))->entries().size(), 4u);
}

}  // namespace
}  // namespace lockstep
