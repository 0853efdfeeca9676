// Collectives give every rank the same answer, whoever comes first; errors too.

#include "parallel/thread_comm.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "determinism/clock.h"
#include "determinism/float_env.h"
#include "determinism/philox.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr int kSizes[] = {1, 2, 3, 8};

// Up to 200 microseconds, a function of (round, rank).
void ArriveLate(uint64_t round, int rank) {
  const uint32_t draw = RandomU32(1, {.stream = Stream::kTest,
                                      .layer = 0,
                                      .item = round,
                                      .element = static_cast<uint64_t>(rank)});
  std::this_thread::sleep_for(std::chrono::microseconds(draw % 200));
}

std::vector<uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<uint32_t> bits(values.size());
  if (!bits.empty()) std::memcpy(bits.data(), values.data(), bits.size() * 4);
  return bits;
}

#define EXPECT_OK(expression)                  \
  do {                                         \
    const absl::Status status_ = (expression); \
    EXPECT_TRUE(status_.ok()) << status_;      \
  } while (false)

// What open-mpi/ompi#11721 is about: an all-reduce whose order depends on the
// rank gives different ranks different sums of the same four numbers.
TEST(ThreadCommTest, OrderedSumIsTheSameOnAllRanks_OpenMpi11721) {
  constexpr float kValues[] = {1e8f, 1.0f, -1e8f, 1.0f};
  int compared = 0;
  std::mutex mutex;
  EXPECT_OK(RunThreadRanks(4, [&](Communicator& comm) {
    for (uint64_t round = 0; round < 100; ++round) {
      std::vector<float> sum = {kValues[comm.rank()]};
      ArriveLate(round, comm.rank());
      LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(std::span<float>(sum)));
      const std::lock_guard lock(mutex);
      // ((1e8 + 1) + -1e8) + 1, where 1e8 + 1 rounds to 1e8.
      EXPECT_EQ(std::bit_cast<uint32_t>(sum[0]), 0x3f800000u)
          << "rank " << comm.rank() << ", round " << round;
      ++compared;
    }
    return absl::OkStatus();
  }));
  EXPECT_EQ(compared, 400);
}

// The canary to it: another order gives another sum.
TEST(ThreadCommTest, TheOrderOfOpenMpi11721Matters) {
  volatile float a = 1e8f, b = 1.0f, c = -1e8f, d = 1.0f;
  EXPECT_EQ((a + c) + (b + d), 2.0f);
  EXPECT_EQ((a + b) + (c + d), 0.0f);
}

TEST(ThreadCommTest, OrderedSumIsTheChainByRankForEveryElement_N2) {
  for (const int size : kSizes) {
    for (const size_t count : {0, 1, 7, 1000}) {
      const auto value = [](int rank, size_t i) {
        const RandomPosition position = {.stream = Stream::kTest,
                                         .layer = static_cast<uint16_t>(rank),
                                         .item = 0,
                                         .element = i};
        return (RandomUniform(1, position) - 0.5f) * (i % 3 == 0 ? 1e8f : 1.0f);
      };
      std::vector<float> expected(count);
      const ScopedFloatEnv strict;
      for (size_t i = 0; i < count; ++i) {
        expected[i] = value(0, i);
        for (int rank = 1; rank < size; ++rank) expected[i] += value(rank, i);
      }
      EXPECT_OK(RunThreadRanks(size, [&](Communicator& comm) {
        std::vector<float> sum(count);
        for (size_t i = 0; i < count; ++i) sum[i] = value(comm.rank(), i);
        LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(std::span<float>(sum)));
        EXPECT_EQ(BitsOf(sum), BitsOf(expected)) << size << " ranks";
        return absl::OkStatus();
      }));
    }
  }
}

TEST(ThreadCommTest, OrderedSumFlushesSubnormals_N2) {
  EXPECT_OK(RunThreadRanks(2, [&](Communicator& comm) {
    std::vector<float> sum = {comm.rank() == 0 ? 0x1.8p-126f : -0x1p-126f};
    LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(std::span<float>(sum)));
    EXPECT_EQ(BitsOf(sum), std::vector<uint32_t>{0});
    return absl::OkStatus();
  }));
}

TEST(ThreadCommTest, IntegerSumAndMaximum_N5) {
  for (const int size : kSizes) {
    EXPECT_OK(RunThreadRanks(size, [&](Communicator& comm) {
      for (uint64_t round = 0; round < 20; ++round) {
        const int64_t rank = comm.rank();
        std::vector<int64_t> sum = {rank, INT64_MAX, -5}, most = {-rank, rank};
        ArriveLate(round, comm.rank());
        LS_RETURN_IF_ERROR(comm.AllReduceSum(std::span<int64_t>(sum)));
        LS_RETURN_IF_ERROR(comm.AllReduceMax(std::span<int64_t>(most)));
        const auto ranks = static_cast<uint64_t>(size);
        EXPECT_EQ(sum[0], size * (size - 1) / 2);
        EXPECT_EQ(static_cast<uint64_t>(sum[1]),  // wraps
                  ranks * static_cast<uint64_t>(INT64_MAX));
        EXPECT_EQ(sum[2], -5 * size);
        EXPECT_EQ(most, (std::vector<int64_t>{0, size - 1}));
      }
      return absl::OkStatus();
    }));
  }
}

TEST(ThreadCommTest, FloatMaximumKnowsZerosSubnormalsAndNan) {
  const float nan = std::bit_cast<float>(0xffc12345u);
  const float infinity = std::bit_cast<float>(0x7f800000u);
  for (const int size : kSizes) {
    EXPECT_OK(RunThreadRanks(size, [&](Communicator& comm) {
      const bool last = comm.rank() == size - 1;
      std::vector<float> most = {last ? 0.0f : -0.0f,
                                 last ? -0x1p-149f : -0x1p-148f,
                                 last ? nan : infinity, -1.5f};
      LS_RETURN_IF_ERROR(comm.AllReduceMax(std::span<float>(most)));
      EXPECT_EQ(BitsOf(most), (std::vector<uint32_t>{
                                  0, 0x80000001u, 0x7fc00000u, 0xbfc00000u}));
      return absl::OkStatus();
    }));
  }
}

TEST(ThreadCommTest, GatherAndBroadcast) {
  for (const int size : kSizes) {
    EXPECT_OK(RunThreadRanks(size, [&](Communicator& comm) {
      const std::vector<int32_t> in = {comm.rank(), comm.rank() * 10};
      std::vector<int32_t> out(2 * static_cast<size_t>(size));
      LS_RETURN_IF_ERROR(
          comm.AllGather(std::as_bytes(std::span(in)),
                         std::as_writable_bytes(std::span(out))));
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_EQ(out[2 * rank], rank);
        EXPECT_EQ(out[2 * rank + 1], rank * 10);
      }
      for (int root = 0; root < size; ++root) {
        int32_t word = comm.rank() + 100;
        LS_RETURN_IF_ERROR(
            comm.Broadcast(std::as_writable_bytes(std::span(&word, 1)), root));
        EXPECT_EQ(word, root + 100);
      }
      LS_RETURN_IF_ERROR(comm.Broadcast({}, 0));
      return comm.Barrier();
    }));
  }
}

TEST(ThreadCommTest, MessagesKeepTheirOrderByTag) {
  EXPECT_OK(RunThreadRanks(3, [&](Communicator& comm) {
    const int next = (comm.rank() + 1) % 3, previous = (comm.rank() + 2) % 3;
    for (int tag : {7, 8}) {
      for (int32_t i = 0; i < 50; ++i) {
        const int32_t word = comm.rank() * 1000 + tag * 100 + i;
        LS_RETURN_IF_ERROR(
            comm.Send(std::as_bytes(std::span(&word, 1)), next, tag));
      }
    }
    for (int tag : {8, 7}) {  // the other way round
      for (int32_t i = 0; i < 50; ++i) {
        int32_t word = 0;
        LS_RETURN_IF_ERROR(comm.Recv(
            std::as_writable_bytes(std::span(&word, 1)), previous, tag));
        EXPECT_EQ(word, previous * 1000 + tag * 100 + i);
      }
    }
    return absl::OkStatus();
  }));
}

TEST(ThreadCommTest, AMessageOfAnotherLengthIsAnError) {
  const absl::Status status = RunThreadRanks(2, [&](Communicator& comm) {
    int64_t word = 0;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    if (comm.rank() == 0) return comm.Send(bytes, 1, 5);
    return comm.Recv(bytes.first(4), 0, 5);
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(std::string(status.message()).find("8 bytes, 4 were expected"),
            std::string::npos);
}

TEST(ThreadCommTest, SplitFormsGroupsByColorAndOrdersThemByKey) {
  EXPECT_OK(RunThreadRanks(8, [&](Communicator& comm) {
    for (uint64_t round = 0; round < 10; ++round) {
      ArriveLate(round, comm.rank());
      // Odd and even ranks, counted backwards.
      auto half = comm.Split(comm.rank() % 2, -comm.rank());
      LS_RETURN_IF_ERROR(half.status());
      EXPECT_EQ((*half)->size(), 4);
      EXPECT_EQ((*half)->rank(), 3 - comm.rank() / 2);
      std::vector<int64_t> sum = {comm.rank()};
      LS_RETURN_IF_ERROR((*half)->AllReduceSum(std::span<int64_t>(sum)));
      EXPECT_EQ(sum[0], comm.rank() % 2 == 0 ? 12 : 16);
      auto alone = (*half)->Split((*half)->rank(), 0);
      LS_RETURN_IF_ERROR(alone.status());
      EXPECT_EQ((*alone)->size(), 1);
      LS_RETURN_IF_ERROR((*half)->Barrier());
    }
    return absl::OkStatus();
  }));
}

TEST(ThreadCommTest, AllRanksAgreeOnTheErrorOfTheLowestRank) {
  for (const int size : kSizes) {
    EXPECT_OK(RunThreadRanks(size, [&](Communicator& comm) {
      EXPECT_OK(comm.Agree(absl::OkStatus()));
      const absl::Status agreed = comm.Agree(
          comm.rank() >= size / 2
              ? absl::DataLossError("bad " + std::to_string(comm.rank()))
              : absl::OkStatus());
      const std::string first = std::to_string(size / 2);
      EXPECT_EQ(agreed,
                absl::DataLossError("rank " + first + ": bad " + first));
      return comm.Barrier();  // still of use
    }));
  }
}

TEST(ThreadCommTest, CallsThatDoNotMatchFailOnAllRanksAlike) {
  std::vector<absl::Status> statuses(3);
  EXPECT_OK(RunThreadRanks(3, [&](Communicator& comm) {
    std::vector<int64_t> values(comm.rank() == 1 ? 3 : 2, 1);
    statuses[comm.rank()] = comm.AllReduceSum(std::span<int64_t>(values));
    EXPECT_EQ(values[0], 1);  // untouched
    return comm.Barrier();
  }));
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInternal);
  EXPECT_EQ(statuses[0], statuses[1]);
  EXPECT_EQ(statuses[0], statuses[2]);
}

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
  EXPECT_LT(clock.MonotonicNanos() - before, 60'000'000'000);
}

TEST(ThreadCommTest, AMessageSentBeforeLeavingArrives) {
  EXPECT_OK(RunThreadRanks(2, [&](Communicator& comm) {
    int32_t word = 42;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    if (comm.rank() == 0) return comm.Send(bytes, 1, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    word = 0;
    LS_RETURN_IF_ERROR(comm.Recv(bytes, 0, 0));
    EXPECT_EQ(word, 42);
    EXPECT_EQ(comm.Recv(bytes, 0, 0).code(), absl::StatusCode::kUnavailable);
    return absl::OkStatus();
  }));
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
  }
  EXPECT_NE(std::string(statuses[0].message()).find("rank 2 did not come"),
            std::string::npos)
      << statuses[0];
}

TEST(ThreadCommTest, RanksRunUnderTheFloatEnvironment_N2) {
  EXPECT_OK(RunThreadRanks(3, [](Communicator&) {
    EXPECT_TRUE(FloatEnvIsStrict());
    return absl::OkStatus();
  }));
}

}  // namespace
}  // namespace lockstep
