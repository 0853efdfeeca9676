// What moves bytes, forms groups, and tells errors.

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"

namespace lockstep::comm_suite {
namespace {

absl::Status GatherAndBroadcast(Communicator& comm) {
  const std::vector<int32_t> in = {comm.rank(), comm.rank() * 10};
  std::vector<int32_t> out(2 * static_cast<size_t>(comm.size()));
  LS_RETURN_IF_ERROR(comm.AllGather(std::as_bytes(std::span(in)),
                                    std::as_writable_bytes(std::span(out))));
  for (int rank = 0; rank < comm.size(); ++rank) {
    EXPECT_EQ(out[2 * static_cast<size_t>(rank)], rank);
    EXPECT_EQ(out[2 * static_cast<size_t>(rank) + 1], rank * 10);
  }
  for (int root = 0; root < comm.size(); ++root) {
    for (const size_t words : {1, 60'000}) {
      std::vector<int32_t> data(words, comm.rank() + 100);
      LS_RETURN_IF_ERROR(
          comm.Broadcast(std::as_writable_bytes(std::span(data)), root));
      EXPECT_EQ(data, std::vector<int32_t>(words, root + 100));
    }
  }
  LS_RETURN_IF_ERROR(comm.Broadcast({}, 0));
  return comm.Barrier();
}

// Sends all before anyone receives, in the other order: Send never waits.
absl::Status MessagesKeepTheirOrderByTag(Communicator& comm) {
  const int size = comm.size();
  const int next = (comm.rank() + 1) % size;
  const int previous = (comm.rank() + size - 1) % size;
  for (const int tag : {7, Communicator::kMaxTag}) {
    for (int32_t i = 0; i < 50; ++i) {
      const int32_t word = comm.rank() * 100'000 + tag + i;
      LS_RETURN_IF_ERROR(
          comm.Send(std::as_bytes(std::span(&word, 1)), next, tag));
    }
  }
  for (const int tag : {Communicator::kMaxTag, 7}) {
    for (int32_t i = 0; i < 50; ++i) {
      int32_t word = 0;
      LS_RETURN_IF_ERROR(comm.Recv(std::as_writable_bytes(std::span(&word, 1)),
                                   previous, tag));
      EXPECT_EQ(word, previous * 100'000 + tag + i);
    }
  }
  return absl::OkStatus();
}

// A ring of messages beyond any eager limit would hang if Send waited.
absl::Status LargeMessagesInARing(Communicator& comm) {
  const int size = comm.size();
  const int next = (comm.rank() + 1) % size;
  const int previous = (comm.rank() + size - 1) % size;
  const size_t words = 300'000;
  std::vector<int32_t> mine(words), theirs(words);
  for (size_t i = 0; i < words; ++i) {
    mine[i] = comm.rank() * 1'000'000 + static_cast<int32_t>(i);
  }
  LS_RETURN_IF_ERROR(comm.Send(std::as_bytes(std::span(mine)), next, 1));
  LS_RETURN_IF_ERROR(comm.Send({}, next, 1));
  LS_RETURN_IF_ERROR(
      comm.Recv(std::as_writable_bytes(std::span(theirs)), previous, 1));
  LS_RETURN_IF_ERROR(comm.Recv({}, previous, 1));
  size_t wrong = 0;
  for (size_t i = 0; i < words; ++i) {
    wrong +=
        theirs[i] != previous * 1'000'000 + static_cast<int32_t>(i) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0u);
  return absl::OkStatus();
}

absl::Status AMessageOfAnotherLengthIsAnError(Communicator& comm) {
  for (const size_t longer : {0, 1}) {
    int64_t words[] = {comm.rank(), comm.rank()};
    if (comm.rank() == 0) {
      LS_RETURN_IF_ERROR(
          comm.Send(std::as_bytes(std::span(words, 1 + longer)), 1, 5));
    } else if (comm.rank() == 1) {
      const absl::Status status =
          comm.Recv(std::as_writable_bytes(std::span(words, 2 - longer)), 0, 5);
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
      const std::string sent = std::to_string(8 * (1 + longer));
      EXPECT_NE(std::string(status.message()).find("has " + sent + " bytes"),
                std::string::npos)
          << status;
      EXPECT_EQ(words[0], 1);
    }
  }
  return comm.Barrier();  // still of use
}

absl::Status SplitFormsGroupsByColorAndOrdersThemByKey(Communicator& comm) {
  const int size = comm.size(), rank = comm.rank();
  for (uint64_t round = 0; round < 10; ++round) {
    ArriveLate(round, rank);
    // Odd and even ranks, counted backwards.
    auto half = comm.Split(rank % 2, -rank);
    LS_RETURN_IF_ERROR(half.status());
    const int members = rank % 2 == 0 ? (size + 1) / 2 : size / 2;
    EXPECT_EQ((*half)->size(), members);
    EXPECT_EQ((*half)->rank(), members - 1 - rank / 2);
    EXPECT_EQ((*half)->WorldRank((*half)->rank()), comm.WorldRank(rank));
    int64_t sum = rank, expected = 0;
    for (int r = rank % 2; r < size; r += 2) expected += r;
    LS_RETURN_IF_ERROR((*half)->AllReduceSum(std::span(&sum, 1)));
    EXPECT_EQ(sum, expected);
    auto alone = (*half)->Split((*half)->rank(), 0);
    LS_RETURN_IF_ERROR(alone.status());
    EXPECT_EQ((*alone)->size(), 1);
    EXPECT_EQ((*alone)->WorldRank(0), comm.WorldRank(rank));
    LS_RETURN_IF_ERROR((*half)->Barrier());
  }
  return absl::OkStatus();
}

absl::Status AllRanksAgreeOnTheErrorOfTheLowestRank(Communicator& comm) {
  EXPECT_TRUE(comm.Agree(absl::OkStatus()).ok());
  const int first = comm.size() / 2;
  const absl::Status agreed =
      comm.Agree(comm.rank() >= first
                     ? absl::DataLossError("bad " + std::to_string(comm.rank()))
                     : absl::OkStatus());
  const std::string bad = "bad " + std::to_string(first);
  EXPECT_EQ(agreed.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(agreed.message(),
            comm.size() == 1
                ? bad
                : "rank " + std::to_string(comm.WorldRank(first)) + ": " + bad);
  EXPECT_TRUE(IsAgreed(agreed));
  // One that all have is nobody's in particular, however often it is told.
  const absl::Status all = comm.Agree(agreed);
  EXPECT_EQ(all, agreed);
  return comm.Barrier();  // still of use
}

absl::Status CallsThatDoNotMatchFailOnAllRanksAlike(Communicator& comm) {
  std::vector<int64_t> values(comm.rank() == 1 ? 3 : 2, 1);
  const absl::Status status = comm.AllReduceSum(std::span<int64_t>(values));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(values[0], 1);  // untouched
  const std::string text(status.message());
  const std::string call = ": all-reduce (sum of int64) of ";
  const auto told = [&](int rank, const char* bytes) {
    return "rank " + std::to_string(comm.WorldRank(rank)) + call + bytes;
  };
  EXPECT_NE(text.find(told(0, "16 bytes; ") + told(1, "24 bytes")),
            std::string::npos)
      << text;
  // Another kind, and another cut of the same bytes.
  EXPECT_FALSE(
      (comm.rank() == 1 ? comm.Barrier() : comm.Broadcast({}, 0)).ok());
  std::vector<int64_t> counts(static_cast<size_t>(comm.size()), 0);
  counts[comm.rank() == 1 ? 1 : 0] = 4;
  std::vector<std::byte> bytes(4);
  EXPECT_FALSE(comm.AllGatherV(bytes, counts).ok());
  return comm.Barrier();  // still of use
}

}  // namespace

std::vector<Case> MoveCases() {
  return {
      {"GatherAndBroadcast", GatherAndBroadcast},
      {"MessagesKeepTheirOrderByTag", MessagesKeepTheirOrderByTag},
      {"LargeMessagesInARing", LargeMessagesInARing},
      {"AMessageOfAnotherLengthIsAnError", AMessageOfAnotherLengthIsAnError, 2},
      {"SplitFormsGroupsByColorAndOrdersThemByKey",
       SplitFormsGroupsByColorAndOrdersThemByKey},
      {"AllRanksAgreeOnTheErrorOfTheLowestRank",
       AllRanksAgreeOnTheErrorOfTheLowestRank},
      {"CallsThatDoNotMatchFailOnAllRanksAlike",
       CallsThatDoNotMatchFailOnAllRanksAlike, 2},
  };
}

}  // namespace lockstep::comm_suite
