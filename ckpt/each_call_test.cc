// Each call that a save makes of the file system fails once, or it and all
// after it: the save ends with the right error or goes on, and a checkpoint
// with the right bits is there, also when the power is cut then.

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ckpt/two_ranks_for_test.h"
#include "determinism/fault.h"
#include "determinism/fault_file_system.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

struct Failing {
  std::string kind;
  std::string at;      // of the calls that are counted
  int rank = 0;        // whose call it is
  bool on = false;     // all later calls fail too, as on a disk that stays full
  bool twice = false;  // the step is there already
  bool copied = true;
};

// More than a save makes.
constexpr int kMost = 200;

std::vector<FaultSpec> SpecsOf(const Failing& failing, int call) {
  std::vector<FaultSpec> specs;
  for (int k = call; k <= (failing.on ? kMost : call); ++k) {
    specs.push_back(*ParseFault("kind=" + failing.kind + ",at=" + failing.at +
                                ",occurrence=" + std::to_string(k)));
  }
  return specs;
}

struct Tally {
  int calls = 0, refused = 0, went_on = 0, committed = 0;
};

class EachCall {
 public:
  explicit EachCall(Failing failing) : failing_(std::move(failing)) {}

  Tally Run() {
    while (One(tally_.calls + 1, /*seed=*/-1)) {
      ++tally_.calls;
      for (int seed = 0; seed < 4; ++seed) One(tally_.calls, seed);
      if (testing::Test::HasFailure() || tally_.calls == kMost) break;
    }
    return tally_;
  }

 private:
  // False if there is no such call. A seed that is not negative cuts the power
  // after the save.
  bool One(int call, int seed) {
    SCOPED_TRACE(failing_.kind + " at call " + std::to_string(call) + " of " +
                 failing_.at + " on rank " + std::to_string(failing_.rank) +
                 (failing_.on ? " and all after it" : "") + ", seed " +
                 std::to_string(seed));
    MemoryFileSystem disk;
    MakeRun(disk);
    const int64_t before = failing_.twice ? 6 : 5;
    const auto sound = [&](int) -> FileSystem& { return disk; };
    EXPECT_TRUE(SaveOnTwoRanks(sound, before, failing_.copied).ok());
    FaultPlan broken_plan(SpecsOf(failing_, call), failing_.rank);
    broken_plan.BeginStep(6, 0);
    FaultFileSystem broken(&disk, &broken_plan);
    std::vector<absl::Status> told(2);
    const absl::Status saved = SaveOnTwoRanks(
        [&](int rank) -> FileSystem& {
          return rank == failing_.rank ? static_cast<FileSystem&>(broken)
                                       : disk;
        },
        6, failing_.copied, &told);
    if (broken_plan.Unfired().size() == SpecsOf(failing_, call).size()) {
      EXPECT_TRUE(saved.ok()) << saved;
      return false;
    }
    if (seed >= 0) disk.Crash(static_cast<uint64_t>(seed));
    // A launch cleans up first, and puts back what stands aside. Where nothing
    // kept the save from doing so, that is not needed.
    const int64_t at_once = StepOfTwoThatLoads(disk);
    EXPECT_TRUE(LeftoversGo(disk));
    const int64_t found = StepOfTwoThatLoads(disk);
    if (seed < 0 && !failing_.on) {
      EXPECT_EQ(at_once, found);
    }
    if (saved.ok()) {
      EXPECT_EQ(found, 6);
    } else {
      EXPECT_TRUE(found == 6 || found == before) << found;
      ExpectTold(told);
    }
    if (seed < 0) {
      tally_.went_on += saved.ok() ? 1 : 0;
      tally_.refused += saved.ok() ? 0 : 1;
      tally_.committed += !saved.ok() && found == 6 ? 1 : 0;
    }
    EXPECT_TRUE(SaveOnTwoRanks(sound, 6, failing_.copied).ok());
    EXPECT_EQ(StepOfTwoThatLoads(disk), 6);
    return true;
  }

  // Both ranks have the error, which names the rank and what it met.
  void ExpectTold(const std::vector<absl::Status>& told) const {
    for (const absl::Status& status : told) {
      EXPECT_EQ(ExitCodeFor(status), 7) << status;
      if (failing_.kind == "enospc") {
        EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
      }
      EXPECT_NE(Text(status).find("where:"), std::string::npos) << status;
      EXPECT_NE(Text(status).find("/run/"), std::string::npos) << status;
    }
    EXPECT_EQ(Text(told[0]), Text(told[1]));
  }

  const Failing failing_;
  Tally tally_;
};

Tally Go(const Failing& failing) {
  const Tally tally = EachCall(failing).Run();
  std::printf(
      "%-11s %-10s rank %d%s%s: %d calls, %d told, %d went on, %d told after "
      "the step had its name\n",
      failing.kind.c_str(), failing.at.c_str(), failing.rank,
      failing.on ? " and on" : "", failing.twice ? " again" : "", tally.calls,
      tally.refused, tally.went_on, tally.committed);
  return tally;
}

TEST(EachCall, OfTheFirstRankFailsWithoutALoss) {
  for (const char* kind : {"eio", "enospc"}) {
    for (const bool copied : {true, false}) {
      const Tally tally =
          Go({.kind = kind, .at = "save.*.*", .copied = copied});
      EXPECT_GE(tally.calls, 18);
      EXPECT_GE(tally.refused, 17);
    }
    // What a save reads and looks up.
    Go({.kind = kind, .at = "load.*.*"});
  }
}

TEST(EachCall, OfTheSecondRankFailsWithoutALoss) {
  for (const char* kind : {"eio", "enospc"}) {
    const Tally tally = Go({.kind = kind, .at = "save.*.*", .rank = 1});
    EXPECT_GE(tally.calls, 5);
    EXPECT_EQ(tally.went_on, 0);
    EXPECT_EQ(tally.committed, 0);
  }
}

TEST(EachCall, WritesHalfAndFails) {
  for (const int rank : {0, 1}) {
    const Tally tally =
        Go({.kind = "short_write", .at = "save.*.write", .rank = rank});
    EXPECT_GE(tally.calls, 2);
    EXPECT_EQ(tally.went_on, 0);
  }
}

// A disk that stays full, or broken: not even the rest can be removed.
TEST(EachCall, AndAllAfterItFail) {
  for (const char* kind : {"eio", "enospc"}) {
    Go({.kind = kind, .at = "save.*.*", .on = true});
    Go({.kind = kind, .at = "save.*.*", .on = true, .twice = true});
  }
}

TEST(EachCall, OfASaveOverTheSameStepFailsWithoutALoss) {
  for (const char* at : {"save.*.*", "load.*.*"}) {
    const Tally tally = Go({.kind = "eio", .at = at, .twice = true});
    EXPECT_GT(tally.calls, 0);
  }
}

// The canary: a failure that nobody is told of is found.
TEST(EachCall, ALieIsNoticed) {
  MemoryFileSystem disk;
  MakeRun(disk);
  FaultPlan plan({*ParseFault("kind=lost_write,at=save.*.write,occurrence=2")},
                 0);
  plan.BeginStep(6, 0);
  FaultFileSystem broken(&disk, &plan);
  EXPECT_TRUE(
      SaveOnTwoRanks([&](int) -> FileSystem& { return broken; }, 6, true).ok());
  EXPECT_EQ(StepOfTwoThatLoads(disk), -1);
}

}  // namespace
}  // namespace lockstep
