// What does not recur is asked again: who agrees with whom, and where they
// part.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "tests/runs/replay_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/replay/witness.h"
#include "tools/replay_window.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// What happened once is in the record alone: another layout sides with the
// replays, and the run's own trace has the rank and the operation.
TEST(ReplayWitnessTest, TheRecordIsHeldAgainstWitnesses) {
  const TrainRig rig("replay_witness");
  RigOptions options =
      TwoRanks("layout_invariant",
               {"kind=flip,step=4,rank=1,element=5,bit=30,replayed=no,"
                "at=layers.0.mixer.in_proj.forward"});
  options.sets.push_back("trace.level=operation");
  rig.Unseed(options);
  const Json json = Replay(rig, {.from = 3, .to = 5}).json;
  EXPECT_EQ(json["verdict"], "does_not_recur") << json;
  EXPECT_EQ(json["repeatable"], true);
  EXPECT_EQ(json["layout_agrees"], true) << json["notes"];
  EXPECT_EQ(json["of_record"], true) << json["notes"];
  EXPECT_EQ(json["parting"]["ranks"], std::vector<int>{1});
  EXPECT_EQ(json["parting"]["scope"], "layers.0.mixer");
  EXPECT_EQ(json["parting"]["operation"], "in_proj");
  EXPECT_EQ(json["parting"]["step"], 4);
}

// A machine that does not give the same bits twice: every second replay is of
// a twin that meets a fault.
TEST(ReplayWitnessTest, AMachineThatIsNotRepeatableIsNamedByRankAndOperation) {
  const TrainRig rig("replay_steady"), twin("replay_unsteady");
  rig.Unseed(TwoRanks("bitwise"));
  twin.Unseed(TwoRanks("bitwise", {"kind=flip,step=5,rank=1,element=9,bit=20,"
                                   "at=layers.1.mixer.down_proj.forward"}));
  FileSystem& fs = *PosixFileSystem();
  int calls = 0;
  const Replayer unsteady = [&](const WindowOptions& window,
                                const WindowVisitor& visitor) {
    const std::string& dir = calls++ % 2 == 0 ? twin.dir() : rig.dir();
    return ReplayWindow(fs, dir, window, visitor);
  };
  const WindowOptions window = {.from = 4, .to = 6, .threads = 1};
  const auto once = ReplayWindow(fs, rig.dir(), window);
  ASSERT_TRUE(once.ok()) << once.status().message();
  const std::string scratch = rig.dir() + "_scratch";
  ASSERT_TRUE(fs.MakeDirs(scratch).ok());
  const auto witness = AskAgain(fs, unsteady, window, *once,
                                {.run_dir = rig.dir(), .scratch = scratch});
  ASSERT_TRUE(witness.ok()) << witness.status().message();
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(witness->repeatable());
  EXPECT_EQ(witness->parted_at, 5);
  EXPECT_EQ(witness->like_record, 1);
  ASSERT_TRUE(witness->parting.has_value());
  EXPECT_EQ(witness->parting->ranks, std::vector<int>{1});
  EXPECT_EQ(witness->parting->first.identity.scope, "layers.1.mixer");
  EXPECT_EQ(witness->parting->first.identity.operation, "down_proj");
  EXPECT_EQ(witness->parting->first.kind, Parting::kOrigin);
}

}  // namespace
}  // namespace lockstep
