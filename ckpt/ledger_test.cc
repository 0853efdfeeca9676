// The ledger's chain and the run's lock.

#include "ckpt/ledger.h"

#include <gtest/gtest.h>

#include "ckpt/ledger_head.h"
#include "ckpt/run_lock.h"
#include "ckpt/test_state.h"
#include "determinism/fault_file_system.h"
#include "determinism/memory_file_system.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kLedger[] = "/run/ledger.jsonl";

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() { MakeRun(fs); }

  std::unique_ptr<Ledger> Open() {
    auto ledger = Ledger::Open(fs, kRun, clock, nullptr);
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    return ledger.ok() ? *std::move(ledger) : nullptr;
  }
  void WriteThree() {
    auto ledger = Open();
    ASSERT_TRUE(ledger->Append("launch", {{"host", std::string("h")}}).ok());
    ASSERT_TRUE(ledger->Append("checkpoint", {{"step", int64_t{5}}}).ok());
    ASSERT_TRUE(ledger->Append("stop").ok());
  }
  std::string Bytes() { return *fs.ReadFile(kLedger); }

  MemoryFileSystem fs;
  ManualClock clock{1000};
};

TEST_F(LedgerTest, EachLineHoldsTheHashOfTheOneBefore) {
  auto ledger = Open();
  EXPECT_EQ(ledger->Head(), LedgerGenesis());
  ASSERT_TRUE(ledger
                  ->Append("allowed_difference",
                           {{"key", std::string("optimizer.lr \"x\"\n")},
                            {"step", int64_t{5}},
                            {"ok", true},
                            {"ratio", 0.5},
                            {"ranks", std::vector<std::string>{"0", "1"}},
                            {"by_group",
                             std::map<std::string, std::string>{{"a", "b"}}}})
                  .ok());
  const std::string first = ledger->entries()[0].line;
  EXPECT_EQ(Bytes(), first + "\n");
  EXPECT_EQ(ledger->Head(), Sha256Hex(first));
  EXPECT_EQ(first.find("{\"seq\":0,\"time_ms\":1000,\"event\":\"allowed_"), 0u);
  EXPECT_EQ(ledger->entries()[0].Field("key"), "optimizer.lr \"x\"\n");
  EXPECT_EQ(ledger->entries()[0].Field("step"), "5");
  EXPECT_EQ(ledger->entries()[0].Field("by_group"), R"({"a":"b"})");
  EXPECT_EQ(ledger->entries()[0].Field("prev"), LedgerGenesis());
  ASSERT_TRUE(ledger->Append("stop").ok());
  EXPECT_EQ(ledger->entries()[1].Field("prev"), Sha256Hex(first));
}

TEST_F(LedgerTest, GoesOnAfterReopening) {
  WriteThree();
  auto ledger = Open();
  ASSERT_EQ(ledger->entries().size(), 3u);
  ASSERT_TRUE(ledger->Append("resume").ok());
  const LedgerReport report = *ReadLedger(fs, kRun);
  ASSERT_EQ(report.entries.size(), 4u);
  EXPECT_EQ(report.entries[3].seq, 3);
  EXPECT_TRUE(report.Contains(ledger->Head()));
  EXPECT_FALSE(report.Contains(std::string(64, 'a')));
}

TEST_F(LedgerTest, EveryFlippedBitIsFound) {
  WriteThree();
  const std::string good = Bytes();
  const std::string head = Open()->Head();
  const size_t last_line = good.rfind('\n', good.size() - 2) + 1;
  int64_t found = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    Overwrite(fs, kLedger, bad);
    const auto report = ReadLedger(fs, kRun);
    if (!report.ok()) {
      EXPECT_EQ(ExitCodeFor(report.status()), 3);
      EXPECT_NE(Text(report.status()).find("line "), std::string::npos);
    } else {
      // In the last line, or in the newline before it, it looks like a torn
      // one, and the head is gone.
      EXPECT_GE(bit / 8, last_line - 1);
      EXPECT_FALSE(report->torn.empty());
      EXPECT_FALSE(report->Contains(head));
    }
    found += !report.ok() || !report->torn.empty();
  }
  EXPECT_EQ(found, static_cast<int64_t>(good.size() * 8));
}

TEST_F(LedgerTest, LinesRemovedSwappedOrForgedAreFound) {
  WriteThree();
  const std::string good = Bytes();
  const size_t one = good.find('\n') + 1, two = good.find('\n', one) + 1;
  const std::string a = good.substr(0, one), b = good.substr(one, two - one),
                    c = good.substr(two);
  for (const std::string& bad : {b + c, a + c, a + c + b, b + a + c, a + a}) {
    Overwrite(fs, kLedger, bad);
    const auto opened = Ledger::Open(fs, kRun, clock, nullptr);
    EXPECT_EQ(ExitCodeFor(opened.status()), 3) << bad;
  }
  // A clean cut at the end leaves a sound chain without the head that a
  // checkpoint remembers.
  const std::string head = Sha256Hex(c.substr(0, c.size() - 1));
  Overwrite(fs, kLedger, a + b);
  EXPECT_FALSE(Open()->Contains(head));
  EXPECT_EQ(ExitCodeFor(Open()->CheckHolds(head, "step_00000005")), 3);
  EXPECT_TRUE(Open()->Contains(Sha256Hex(b.substr(0, b.size() - 1))));
}

TEST_F(LedgerTest, TornLastLineIsMovedAsideAndRecorded) {
  WriteThree();
  const std::string good = Bytes();
  const size_t last = good.rfind('\n', good.size() - 2) + 1;
  int64_t torn_files = 0;  // of a torn line nobody has noted the head
  for (size_t cut = last + 1; cut < good.size(); ++cut) {
    Overwrite(fs, kLedger, good.substr(0, cut));
    const std::string noted = ReadLedger(fs, kRun)->entries[1].sha256;
    ASSERT_TRUE(WriteLedgerHead(fs, kRun, noted).ok());
    auto ledger = Open();
    ASSERT_EQ(ledger->entries().size(), 3u);
    const std::string name = "ledger.torn-" + std::to_string(++torn_files);
    EXPECT_EQ(ledger->entries()[2].Field("file"), name);
    EXPECT_EQ(*fs.ReadFile("/run/" + name), good.substr(last, cut - last));
    EXPECT_EQ(Open()->entries().size(), 3u);  // and nothing more to repair
  }
  EXPECT_GT(torn_files, 50);
}

TEST_F(LedgerTest, EveryCrashLeavesAChainThatHoldsWhatWasAcknowledged) {
  int64_t points = 0, torn = 0;
  for (int64_t limit = 0;; ++limit) {
    bool finished = false;
    for (uint64_t seed = 0; seed < 12; ++seed) {
      MemoryFileSystem disk;
      MakeRun(disk);
      disk.FailAfter(limit);
      std::string acknowledged = LedgerGenesis();
      auto ledger = Ledger::Open(disk, kRun, clock, nullptr);
      finished = ledger.ok();
      for (int i = 0; i < 3 && finished; ++i) {
        const std::string text(700, 'x');  // more than a block
        finished = (*ledger)->Append("skip", {{"text", text}}).ok();
        if (finished) acknowledged = (*ledger)->Head();
      }
      disk.Crash(seed);
      auto again = Ledger::Open(disk, kRun, clock, nullptr);
      ASSERT_TRUE(again.ok()) << limit << " " << seed << again.status();
      EXPECT_TRUE((*again)->Contains(acknowledged)) << limit << " " << seed;
      ++points;
      torn += disk.Exists("/run/ledger.torn-1");
    }
    if (finished) break;
  }
  EXPECT_GT(points, 100);
  EXPECT_GT(torn, 5);  // the branch was reached
}

TEST_F(LedgerTest, AFailedAppendStopsTheLedger) {
  const FaultSpec spec =
      *ParseFault("kind=short_write,at=save.ledger.write,occurrence=2");
  FaultPlan plan({spec}, 0);
  FaultFileSystem faulty(&fs, &plan);
  plan.BeginStep(0, 0);
  auto ledger = *Ledger::Open(faulty, kRun, clock, nullptr);
  ASSERT_TRUE(ledger->Append("launch").ok());
  EXPECT_FALSE(ledger->Append("checkpoint").ok());
  EXPECT_FALSE(ledger->Append("stop").ok());
  auto again = Open();
  ASSERT_EQ(again->entries().size(), 2u);
  EXPECT_EQ(again->entries()[1].event, "torn_line");
}

TEST_F(LedgerTest, AStaleTrainerCannotAppend) {
  MemoryFileLocker first_locker, second_locker;  // a system that forgot
  auto first = *RunLock::Acquire(fs, first_locker, kRun, {1, "old"}, clock);
  auto ledger = *Ledger::Open(fs, kRun, clock, first.get());
  ASSERT_TRUE(ledger->Append("launch").ok());
  auto second = *RunLock::Acquire(fs, second_locker, kRun, {2, "new"}, clock);
  const absl::Status status = ledger->Append("checkpoint");
  EXPECT_EQ(ExitCodeFor(status), 2);
  EXPECT_NE(Text(status).find("process 2 on new"), std::string::npos);
  EXPECT_EQ(ReadLedger(fs, kRun)->entries.size(), 1u);
}

}  // namespace
}  // namespace lockstep
