// Collectives under way: gradient buckets that are reduced during backward.

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"

namespace lockstep::comm_suite {
namespace {

constexpr size_t kBuckets = 6;

// Each bucket with a length of its own; some are beyond any small message.
size_t BucketLength(size_t bucket) { return 1 + bucket * 9'001; }

std::vector<std::vector<float>> BucketsOf(int rank) {
  std::vector<std::vector<float>> buckets(kBuckets);
  for (size_t b = 0; b < kBuckets; ++b) {
    for (size_t i = 0; i < BucketLength(b); ++i) {
      buckets[b].push_back(ValueOf(rank, i + b));
    }
  }
  return buckets;
}

// Overlap on and off, waited for in any order: the same bits (N12).
absl::Status BucketsInFlightGiveTheBitsOfBlockingCalls_N12(Communicator& comm) {
  std::vector<std::vector<float>> blocking = BucketsOf(comm.rank());
  for (std::vector<float>& bucket : blocking) {
    LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(bucket));
  }
  for (const bool backwards : {false, true}) {
    std::vector<std::vector<float>> buckets = BucketsOf(comm.rank());
    std::vector<Communicator::Pending> pending;
    for (size_t b = 0; b < kBuckets; ++b) {
      ArriveLate(b, comm.rank());  // backward of the next layer
      pending.push_back(comm.StartAllReduceOrderedSum(buckets[b]));
      if (b % 2 == 1) pending.back()->MoveInBackground();
    }
    for (size_t i = 0; i < kBuckets; ++i) {
      const size_t b = backwards ? kBuckets - 1 - i : i;
      LS_RETURN_IF_ERROR(pending[b]->Wait());
      ExpectBits(buckets[b], blocking[b]);
    }
  }
  return absl::OkStatus();
}

// Without a call of this library on any rank, and with the same bits.
absl::Status BucketsMoveWhileAllRanksCompute_N12(Communicator& comm) {
  std::vector<std::vector<float>> buckets = BucketsOf(comm.rank());
  std::vector<std::vector<float>> blocking = buckets;
  std::vector<Communicator::Pending> pending;
  for (std::vector<float>& bucket : buckets) {
    pending.push_back(comm.StartAllReduceOrderedSum(bucket));
    pending.back()->MoveInBackground();
  }
  for (const auto& one : pending) {
    for (int ms = 0; ms < 30'000 && !one->Ended(); ++ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(one->Ended());
  }
  for (const auto& one : pending) LS_RETURN_IF_ERROR(one->Wait());
  for (size_t b = 0; b < kBuckets; ++b) {
    LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(blocking[b]));
    ExpectBits(buckets[b], blocking[b]);
  }
  return absl::OkStatus();
}

// Other calls and messages pass while a bucket is under way, on several groups.
absl::Status OtherCallsPassMeanwhile_N5(Communicator& comm) {
  const int size = comm.size(), rank = comm.rank();
  auto group = comm.Split(0, rank);
  LS_RETURN_IF_ERROR(group.status());
  std::vector<int64_t> sums(50'000), more(50'000);
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = more[i] = static_cast<int64_t>(i) + rank;
  }
  std::vector<int64_t> counts(static_cast<size_t>(size), 0);
  counts[0] = 49'000;
  counts[static_cast<size_t>(size) - 1] += 1'000;
  auto first = comm.StartAllReduceSum(sums);
  auto second = (*group)->StartReduceScatterSum(more, counts);
  const int32_t word = rank;
  int32_t got = -1;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  LS_RETURN_IF_ERROR(comm.Send(std::as_bytes(std::span(&word, 1)), next, 3));
  LS_RETURN_IF_ERROR(
      comm.Recv(std::as_writable_bytes(std::span(&got, 1)), previous, 3));
  EXPECT_EQ(got, previous);
  LS_RETURN_IF_ERROR(comm.Barrier());
  LS_RETURN_IF_ERROR(second->Wait());
  LS_RETURN_IF_ERROR(first->Wait());
  int64_t wrong = 0;
  const int64_t ranks = int64_t{size} * (size - 1) / 2;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t total = static_cast<int64_t>(i) * size + ranks;
    const bool mine =
        (rank == 0 && i < 49'000) || (rank == size - 1 && i >= 49'000);
    wrong += sums[i] != total ? 1 : 0;
    wrong += more[i] != (mine ? total : static_cast<int64_t>(i) + rank) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
  return absl::OkStatus();
}

// A rank that computes between Start and Wait holds nobody up, as long as it
// calls in now and then; the others get their sums.
absl::Status GatherAndTreeInFlight_N4(Communicator& comm) {
  const size_t count = 20'000, ranks = static_cast<size_t>(comm.size());
  std::vector<float> tree(count), expected(count);
  std::vector<int32_t> parts(ranks * count, -1);
  for (size_t i = 0; i < count; ++i) {
    tree[i] = expected[i] = ValueOf(comm.rank(), i);
    parts[static_cast<size_t>(comm.rank()) * count + i] = comm.rank();
  }
  LS_RETURN_IF_ERROR(comm.AllReduceTree(expected));
  const std::vector<int64_t> bytes(ranks, static_cast<int64_t>(4 * count));
  auto sum = comm.StartAllReduceTree(tree);
  auto gather =
      comm.StartAllGatherV(std::as_writable_bytes(std::span(parts)), bytes);
  ArriveLate(3, comm.rank());
  LS_RETURN_IF_ERROR(gather->Wait());
  LS_RETURN_IF_ERROR(sum->Wait());
  ExpectBits(tree, expected);
  size_t wrong = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    wrong += parts[i] != static_cast<int32_t>(i / count) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0u);
  return absl::OkStatus();
}

}  // namespace

std::vector<Case> OverlapCases() {
  return {
      {"BucketsInFlightGiveTheBitsOfBlockingCalls_N12",
       BucketsInFlightGiveTheBitsOfBlockingCalls_N12},
      {"BucketsMoveWhileAllRanksCompute_N12",
       BucketsMoveWhileAllRanksCompute_N12},
      {"OtherCallsPassMeanwhile_N5", OtherCallsPassMeanwhile_N5},
      {"GatherAndTreeInFlight_N4", GatherAndTreeInFlight_N4, 1, true},
  };
}

}  // namespace lockstep::comm_suite
