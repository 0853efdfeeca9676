// Checkpoints that only the ledger still knows of.

#include "ckpt/gone_checkpoints.h"

#include <gtest/gtest.h>

#include <memory>

#include "ckpt/run_for_test.h"
#include "determinism/clock.h"

namespace lockstep {
namespace {

class GoneTest : public RunTest {
 protected:
  GoneTest() : ledger(*Ledger::Open(fs, kRun, clock, nullptr)) {
    Record("launch");
    for (const int64_t step : {2, 4, 6}) {
      EXPECT_TRUE(
          fs.MakeDirs(JoinPath(kCheckpoints, CheckpointName(step))).ok());
      Record("checkpoint", {{"step", step}});
    }
  }
  void Record(const std::string& event, const LedgerFields& fields = {}) {
    ASSERT_TRUE(ledger->Append(event, fields).ok());
  }
  void Lose(const std::string& name) {
    ASSERT_TRUE(fs.RemoveTree(JoinPath(kCheckpoints, name)).ok());
  }
  Steps Gone() { return GoneCheckpoints(fs, kRun, ledger->entries()); }

  ManualClock clock{1000};
  std::unique_ptr<Ledger> ledger;
};

TEST_F(GoneTest, EachOneThatNothingRemovedIsNamed) {
  EXPECT_EQ(Gone(), Steps());
  Lose("step_00000006");
  Lose("step_00000002");
  EXPECT_EQ(Gone(), (Steps{"step_00000002", "step_00000006"}));
  // Once it is on record it is no news; saved again, it is to be there.
  Record("checkpoint_skipped", {{"why", std::string("it is damaged")}});
  EXPECT_EQ(Gone().size(), 2u);
  Record("checkpoint_skipped", {{"gone", Gone()}});
  EXPECT_EQ(Gone(), Steps());
  Record("checkpoint", {{"step", int64_t{6}}});
  EXPECT_EQ(Gone(), Steps{"step_00000006"});
}

TEST_F(GoneTest, OneThatAnEventRemovedIsNot) {
  Lose("step_00000002");
  Record("retention", {{"removed", Steps{"step_00000002"}}});
  EXPECT_EQ(Gone(), Steps());
  Lose("step_00000006");
  Record("abandoned_tail", {{"file", std::string("metrics.jsonl")}});
  EXPECT_EQ(Gone(), Steps{"step_00000006"});
  Record("abandoned_tail", {{"checkpoints", Steps{"step_00000006"}}});
  EXPECT_EQ(Gone(), Steps());
  Lose("step_00000004");
  EXPECT_EQ(Gone(), Steps{"step_00000004"});
  Record("launch");  // begun anew
  EXPECT_EQ(Gone(), Steps());
}

TEST_F(GoneTest, AResumeLeavesWhatIsBeyondIt) {
  Lose("step_00000004");
  Lose("step_00000006");
  Record("resume", {{"step", int64_t{4}}});
  EXPECT_EQ(Gone(), Steps{"step_00000004"});
}

// A kill between the move and its event.
TEST_F(GoneTest, OneThatWasSetAsideIsStillThere) {
  Lose("step_00000006");
  ASSERT_TRUE(fs.MakeDirs("/run/abandoned/3/step_00000004").ok());
  EXPECT_EQ(Gone(), Steps{"step_00000006"});
  ASSERT_TRUE(fs.MakeDirs("/run/abandoned/3/step_00000006").ok());
  EXPECT_EQ(Gone(), Steps());
}

}  // namespace
}  // namespace lockstep
