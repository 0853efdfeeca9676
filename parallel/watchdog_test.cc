#include "parallel/watchdog.h"

#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"
#include "parallel/rank_lost.h"
#include "parallel/thread_comm.h"

namespace lockstep {
namespace {

// The last words of each rank, collected from any thread.
class Notebook {
 public:
  std::function<void(const LastWords&)> Writer() {
    return [this](const LastWords& words) {
      const std::lock_guard lock(mutex_);
      words_[words.rank] = words;
      ++written_;
    };
  }
  int written() const {
    const std::lock_guard lock(mutex_);
    return written_;
  }
  LastWords Of(int rank) const {
    const std::lock_guard lock(mutex_);
    const auto at = words_.find(rank);
    return at == words_.end() ? LastWords{.rank = -1} : at->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, LastWords> words_;
  int written_ = 0;
};

void Sleep(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

template <typename Condition>
bool Eventually(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) Sleep(10);
  return condition();
}

// Public report marin-community/marin#7344: 512 GPUs froze in a collective at
// step 145, no process died, so nothing retried. Here each rank that waits
// gives up by itself, and says the step, the call and whom it waited for; the
// silent rank's own watchdog says that it was in no call.
TEST(WatchdogTest, ASilentRankEndsAllWithLastWords_Marin7344) {
  Notebook notebook;
  RealClock clock;
  (void)RunThreadRanks(
      3,
      [&](Communicator& world) {
        const int rank = world.rank();
        Watchdog dog({.rank = rank, .timeout_ms = 200, .step_timeout_ms = 400},
                     &clock, notebook.Writer());
        LS_ASSIGN_OR_RETURN(auto group, world.Split(0, rank));
        const auto comm = WatchCommunicator(std::move(group), &dog, "data");
        for (int64_t step = 1; step <= 10; ++step) {
          dog.BeginStep(step);
          if (step == 5 && rank == 1) Sleep(900);
          int64_t value = 1;
          LS_RETURN_IF_ERROR(comm->AllReduceSum(std::span(&value, 1)));
          EXPECT_EQ(value, 3);
          dog.EndStep();
        }
        return absl::OkStatus();
      },
      {.timeout_ms = 200});
  EXPECT_EQ(notebook.written(), 3);
  for (const int rank : {0, 2}) {
    const LastWords words = notebook.Of(rank);
    EXPECT_EQ(words.step, 5);
    EXPECT_EQ(words.group, "data");
    EXPECT_EQ(words.collective, "all-reduce (sum of int64) of 8 bytes");
    EXPECT_EQ(words.waited_for, std::vector<int>{1});
    EXPECT_GE(words.waited_ms, 150);
    EXPECT_NE(words.cause.find("rank 1 did not come within 200 ms"),
              std::string::npos)
        << words.cause;
  }
  const LastWords silent = notebook.Of(1);
  EXPECT_EQ(silent.step, 5);
  EXPECT_EQ(silent.collective, "");
  EXPECT_NE(silent.cause.find("the step did not end within 400 ms"),
            std::string::npos)
      << silent.cause;
}

TEST(WatchdogTest, ARankThatDiesIsNamedByAll) {
  Notebook notebook;
  RealClock clock;
  (void)RunThreadRanks(3, [&](Communicator& world) {
    const int rank = world.rank();
    Watchdog dog({.rank = rank}, &clock, notebook.Writer());
    LS_ASSIGN_OR_RETURN(auto group, world.Split(0, rank));
    const auto comm = WatchCommunicator(std::move(group), &dog, "world");
    dog.BeginStep(7);
    if (rank == 2) return absl::InternalError("died");
    std::vector<float> values(100'000, 1.0f);
    const auto pending = comm->StartAllReduceOrderedSum(values);
    return pending->Wait();
  });
  EXPECT_EQ(notebook.written(), 2);
  for (const int rank : {0, 1}) {
    EXPECT_EQ(notebook.Of(rank).step, 7);
    EXPECT_EQ(notebook.Of(rank).waited_for, std::vector<int>{2});
    EXPECT_EQ(notebook.Of(rank).collective,
              "all-reduce (ordered sum of float) of 400000 bytes");
  }
}

// A call that never comes back, as inside a library; the time is the test's.
TEST(WatchdogTest, ACallThatHangsIsSeenAfterTheGrace) {
  Notebook notebook;
  ManualClock clock;
  Watchdog dog({.rank = 4, .timeout_ms = 1000}, &clock, notebook.Writer());
  dog.BeginStep(3);
  clock.AdvanceMillis(100'000);  // steps may take any time here
  dog.BeginCall("tensor", "barrier");
  clock.AdvanceMillis(1000 + kWatchdogGraceMs);
  Sleep(60);
  EXPECT_EQ(notebook.written(), 0);
  EXPECT_EQ(dog.Now().waited_ms, 1000 + kWatchdogGraceMs);
  clock.AdvanceMillis(1);
  ASSERT_TRUE(Eventually([&] { return notebook.written() == 1; }));
  const LastWords words = notebook.Of(4);
  EXPECT_EQ(words.step, 3);
  EXPECT_EQ(words.group, "tensor");
  EXPECT_EQ(words.collective, "barrier");
  dog.EndCall(RanksLost(std::vector<int>{1}, "x", "y"));
  EXPECT_EQ(notebook.written(), 1);  // once
}

TEST(WatchdogTest, WhatIsInTimeIsLeftAlone) {
  Notebook notebook;
  ManualClock clock;
  Watchdog dog({.timeout_ms = 1000, .step_timeout_ms = 500}, &clock,
               notebook.Writer());
  for (int64_t step = 1; step <= 3; ++step) {
    dog.BeginStep(step);
    clock.AdvanceMillis(400);
    dog.BeginCall("world", "barrier");
    dog.EndCall(absl::OkStatus());
    Sleep(30);
    dog.EndStep();
    clock.AdvanceMillis(10'000);  // a checkpoint between steps
    Sleep(30);
  }
  EXPECT_EQ(notebook.written(), 0);
}

// N12: watched or not, the same bits; the suite runs through the watch as well.
TEST(WatchdogTest, AWatchedCommunicatorPassesTheSuite_N12) {
  RealClock clock;
  Notebook notebook;
  int ran = 0;
  for (const comm_suite::Case& one : comm_suite::AllCases()) {
    if (!one.Fits(4)) continue;
    const absl::Status status = RunThreadRanks(4, [&](Communicator& world) {
      Watchdog dog({.rank = world.rank()}, &clock, notebook.Writer());
      LS_ASSIGN_OR_RETURN(auto group, world.Split(0, world.rank()));
      return one.run(*WatchCommunicator(std::move(group), &dog, "world"));
    });
    EXPECT_TRUE(status.ok()) << one.name << ": " << status;
    ++ran;
  }
  EXPECT_GE(ran, 20);
  EXPECT_EQ(notebook.written(), 0);
}

}  // namespace
}  // namespace lockstep
