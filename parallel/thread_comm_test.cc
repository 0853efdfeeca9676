// The suite of all transports over threads, and what ranks that are threads do
// when one of them is lost.

#include "parallel/thread_comm.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "determinism/clock.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"
#include "parallel/rank_lost.h"

namespace lockstep {
namespace {

constexpr int kSizes[] = {1, 2, 3, 4, 5, 8};

class ThreadCommSuite : public testing::TestWithParam<comm_suite::Case> {};

TEST_P(ThreadCommSuite, HoldsOnEveryNumberOfRanks) {
  int ran = 0;
  for (const int size : kSizes) {
    if (!GetParam().Fits(size)) continue;
    SCOPED_TRACE(std::to_string(size) + " ranks");
    std::atomic<int> ranks{0};
    const absl::Status status = RunThreadRanks(size, [&](Communicator& comm) {
      ++ranks;
      return GetParam().run(comm);
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(ranks.load(), size);
    ++ran;
  }
  EXPECT_GE(ran, 4);
}

INSTANTIATE_TEST_SUITE_P(
    All, ThreadCommSuite, testing::ValuesIn(comm_suite::AllCases()),
    [](const testing::TestParamInfo<comm_suite::Case>& info) {
      return std::string(info.param.name);
    });

TEST(ThreadCommTest, ARankThatLeavesIsLostToAllAtOnce) {
  RealClock clock;
  const int64_t before = clock.MonotonicNanos();
  std::vector<absl::Status> statuses(3);
  const absl::Status status = RunThreadRanks(3, [&](Communicator& comm) {
    if (comm.rank() == 1) return absl::InternalError("the cause");
    statuses[comm.rank()] = comm.Barrier();
    return statuses[comm.rank()];
  });
  EXPECT_EQ(status, absl::InternalError("the cause"));  // not its consequence
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(statuses[0], statuses[2]);
  EXPECT_NE(std::string(statuses[0].message()).find("rank 1 has left"),
            std::string::npos);
  EXPECT_EQ(LostRanksOf(statuses[0]), std::vector<int>{1});
  EXPECT_LT(clock.MonotonicNanos() - before, 60'000'000'000);
}

TEST(ThreadCommTest, AHandleThatIsDroppedEndsTheOthersWait) {
  std::vector<absl::Status> statuses(3);
  (void)RunThreadRanks(3, [&](Communicator& comm) {
    std::vector<int64_t> first(1000, comm.rank()), second(1000, comm.rank());
    // The first is complete for all: dropping it leaves nobody's memory to
    // others. The second never begins on rank 2.
    auto done = comm.StartAllReduceSum(first);
    LS_RETURN_IF_ERROR(comm.Barrier());
    done.reset();
    if (comm.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return absl::OkStatus();
    }
    auto pending = comm.StartAllReduceSum(second);
    if (comm.rank() == 1) pending.reset();
    statuses[comm.rank()] =
        pending != nullptr ? pending->Wait() : comm.Barrier();
    return statuses[comm.rank()];
  });
  EXPECT_EQ(ExitCodeFor(statuses[0]), 6) << statuses[0];
  EXPECT_EQ(ExitCodeFor(statuses[1]), 6) << statuses[1];
}

// Ranks come one after the other, in the order given; the sum of all, by rank
// 0.
float SumInOrder(const std::vector<int>& order, Reduction reduction) {
  float sum = 0;
  const absl::Status status = RunThreadRanks(3, [&](Communicator& comm) {
    constexpr float kValues[] = {1e8f, -1e8f, 1.5f};
    float value = kValues[comm.rank()];
    const auto me = std::find(order.begin(), order.end(), comm.rank());
    std::byte token = {};
    if (me != order.begin()) {
      LS_RETURN_IF_ERROR(comm.Recv(std::span(&token, 1), *(me - 1), 0));
    }
    const auto pending =
        comm.Start({.kind = CollectiveKind::kAllReduce,
                    .reduction = reduction,
                    .data = std::as_writable_bytes(std::span(&value, 1))});
    if (me + 1 != order.end()) {
      LS_RETURN_IF_ERROR(comm.Send(std::span(&token, 1), *(me + 1), 0));
    }
    LS_RETURN_IF_ERROR(pending->Wait());
    if (comm.rank() == 0) sum = value;
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return sum;
}

// Canary: whoever comes first shows in a fast sum, and in no other.
TEST(ThreadCommTest, ArrivalShowsInFastSumsAlone_N5) {
  const std::vector<int> orders[] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
  std::set<float> fast, ordered;
  for (const std::vector<int>& order : orders) {
    fast.insert(SumInOrder(order, Reduction::kFastSumFloat));
    ordered.insert(SumInOrder(order, Reduction::kOrderedSumFloat));
  }
  EXPECT_GT(fast.size(), 1u);
  EXPECT_EQ(ordered, std::set<float>{1.5f});
}

TEST(ThreadCommTest, AMessageSentBeforeLeavingArrives) {
  const absl::Status status = RunThreadRanks(2, [&](Communicator& comm) {
    int32_t word = 42;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    if (comm.rank() == 0) return comm.Send(bytes, 1, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    word = 0;
    LS_RETURN_IF_ERROR(comm.Recv(bytes, 0, 0));
    EXPECT_EQ(word, 42);
    EXPECT_EQ(comm.Recv(bytes, 0, 0).code(), absl::StatusCode::kUnavailable);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ThreadCommTest, ARankThatHangsIsNamedAfterTheTimeout) {
  std::vector<absl::Status> statuses(3);
  (void)RunThreadRanks(
      3,
      [&](Communicator& comm) {
        if (comm.rank() == 2) {
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
        }
        statuses[comm.rank()] = comm.Barrier();
        return statuses[comm.rank()];
      },
      {.timeout_ms = 50});
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status, statuses[0]);
    EXPECT_EQ(ExitCodeFor(status), 6);
    EXPECT_EQ(LostRanksOf(status), std::vector<int>{2});
  }
  EXPECT_NE(std::string(statuses[0].message()).find("rank 2 did not come"),
            std::string::npos)
      << statuses[0];
}

// In a group of its own numbering, messages still say what the world does.
TEST(ThreadCommTest, AGroupNamesItsRanksAsTheWorldDoes) {
  absl::Status told;
  (void)RunThreadRanks(4, [&](Communicator& comm) {
    auto odd = comm.Split(comm.rank() % 2, 0);
    LS_RETURN_IF_ERROR(odd.status());
    if (comm.rank() == 3) return absl::OkStatus();
    if (comm.rank() == 1) told = (*odd)->Barrier();
    return absl::OkStatus();
  });
  EXPECT_EQ(LostRanksOf(told), std::vector<int>{3}) << told;
}

TEST(ThreadCommTest, RanksRunUnderTheFloatEnvironment_N2) {
  const absl::Status status = RunThreadRanks(3, [](Communicator&) {
    EXPECT_TRUE(FloatEnvIsStrict());
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace lockstep
