// Reduce-scatter and all-gather with a part of its own length for each rank.

#include <cstdint>
#include <numeric>
#include <vector>

#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"

namespace lockstep::comm_suite {
namespace {

// Uneven, and with ranks that have nothing: the rows of a tensor of ZeRO-1.
std::vector<std::vector<int64_t>> Cuts(int ranks) {
  const auto n = static_cast<size_t>(ranks);
  std::vector<std::vector<int64_t>> cuts(4, std::vector<int64_t>(n, 0));
  for (size_t rank = 0; rank < n; ++rank) {
    cuts[0][rank] = 5;
    cuts[1][rank] = rank % 2 == 0 ? 1 : 0;
    cuts[2][rank] = static_cast<int64_t>(rank * 40'001 % 100'000);
  }
  cuts[3][n - 1] = 3;  // all else empty
  return cuts;
}

struct Part {
  size_t begin = 0, end = 0, total = 0;
};

Part PartOf(const std::vector<int64_t>& counts, int rank) {
  Part part;
  for (size_t r = 0; r < counts.size(); ++r) {
    const auto count = static_cast<size_t>(counts[r]);
    if (static_cast<int>(r) < rank) part.begin += count;
    if (static_cast<int>(r) == rank) part.end = part.begin + count;
    part.total += count;
  }
  return part;
}

absl::Status ReduceScatterSumOfIntegers_N5(Communicator& comm) {
  for (const std::vector<int64_t>& counts : Cuts(comm.size())) {
    const Part part = PartOf(counts, comm.rank());
    std::vector<int64_t> values(part.total);
    const auto value = [](int rank, size_t i) {
      return static_cast<int64_t>(i) * 1'000'003 - rank;
    };
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = value(comm.rank(), i);
    }
    ArriveLate(part.total, comm.rank());
    LS_RETURN_IF_ERROR(comm.ReduceScatterSum(values, counts));
    int64_t wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t expected = value(comm.rank(), i);  // another's part is left alone
      if (i >= part.begin && i < part.end) {
        expected = 0;
        for (int r = 0; r < comm.size(); ++r) expected += value(r, i);
      }
      wrong += values[i] != expected ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << "of " << values.size();
  }
  return absl::OkStatus();
}

float Joined(Reduction reduction, int first, int ranks, size_t i) {
  if (ranks == 1) return ValueOf(first, i);
  const int half =
      reduction == Reduction::kTreeSumFloat ? ranks / 2 : ranks - 1;
  return Joined(reduction, first, half, i) +
         Joined(reduction, first + half, ranks - half, i);
}

absl::Status CheckFloatScatter(Communicator& comm, Reduction reduction) {
  for (const std::vector<int64_t>& counts : Cuts(comm.size())) {
    const Part part = PartOf(counts, comm.rank());
    std::vector<float> values(part.total), expected(part.total);
    for (size_t i = 0; i < values.size(); ++i) {
      expected[i] = values[i] = ValueOf(comm.rank(), i);
    }
    for (size_t i = part.begin; i < part.end; ++i) {
      expected[i] = Joined(reduction, 0, comm.size(), i);
    }
    if (reduction == Reduction::kTreeSumFloat) {
      LS_RETURN_IF_ERROR(comm.ReduceScatterTree(values, counts));
    } else {
      LS_RETURN_IF_ERROR(comm.ReduceScatterOrderedSum(values, counts));
    }
    ExpectBits(values, expected);
  }
  return absl::OkStatus();
}

absl::Status ReduceScatterOrdered_N2(Communicator& comm) {
  return CheckFloatScatter(comm, Reduction::kOrderedSumFloat);
}

absl::Status ReduceScatterTree_N4(Communicator& comm) {
  return CheckFloatScatter(comm, Reduction::kTreeSumFloat);
}

// Sequence parallelism and ZeRO-1 replace an all-reduce by these two.
absl::Status ScatterThenGatherIsAllReduce(Communicator& comm) {
  const std::vector<int64_t> counts = Cuts(comm.size())[2];
  const Part part = PartOf(counts, comm.rank());
  std::vector<float> values(part.total), whole(part.total);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = whole[i] = ValueOf(comm.rank(), i);
  }
  LS_RETURN_IF_ERROR(comm.ReduceScatterOrderedSum(values, counts));
  std::vector<int64_t> bytes;
  for (const int64_t count : counts) bytes.push_back(count * 4);
  LS_RETURN_IF_ERROR(
      comm.AllGatherV(std::as_writable_bytes(std::span(values)), bytes));
  LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(whole));
  ExpectBits(values, whole);
  return ExpectSameOnAllRanks(comm, values);
}

absl::Status GatherOfUnequalParts(Communicator& comm) {
  for (const std::vector<int64_t>& counts : Cuts(comm.size())) {
    const Part part = PartOf(counts, comm.rank());
    std::vector<uint8_t> bytes(part.total, 255);
    for (size_t i = part.begin; i < part.end; ++i) {
      bytes[i] = static_cast<uint8_t>(comm.rank() * 31 + i % 7);
    }
    LS_RETURN_IF_ERROR(
        comm.AllGatherV(std::as_writable_bytes(std::span(bytes)), counts));
    size_t wrong = 0;
    for (int rank = 0; rank < comm.size(); ++rank) {
      const Part from = PartOf(counts, rank);
      for (size_t i = from.begin; i < from.end; ++i) {
        wrong += bytes[i] != static_cast<uint8_t>(rank * 31 + i % 7) ? 1 : 0;
      }
    }
    EXPECT_EQ(wrong, 0u) << "of " << bytes.size();
  }
  return absl::OkStatus();
}

// In parts of unequal length.
absl::Status FastReduceScatterAddsUp(Communicator& comm) {
  const int size = comm.size();
  std::vector<int64_t> parts;
  for (int r = 0; r < size; ++r) parts.push_back(4 * (3 + 7'001 * r));
  const auto bytes = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  std::vector<float> values(static_cast<size_t>(bytes / 4),
                            static_cast<float>(comm.rank() + 1));
  LS_RETURN_IF_ERROR(
      comm.Start({.kind = CollectiveKind::kReduceScatter,
                  .reduction = Reduction::kFastSumFloat,
                  .data = std::as_writable_bytes(std::span(values)),
                  .part_bytes = parts})
          ->Wait());
  int64_t first = 0;
  for (int r = 0; r < comm.rank(); ++r) first += parts[r] / 4;
  const std::vector<float> mine(
      values.begin() + first, values.begin() + first + parts[comm.rank()] / 4);
  ExpectBits(mine, std::vector<float>(
                       mine.size(), static_cast<float>(size * (size + 1) / 2)));
  return absl::OkStatus();
}

}  // namespace

std::vector<Case> ScatterCases() {
  return {
      {"ReduceScatterSumOfIntegers_N5", ReduceScatterSumOfIntegers_N5},
      {"ReduceScatterOrdered_N2", ReduceScatterOrdered_N2},
      {"ReduceScatterTree_N4", ReduceScatterTree_N4, 1, true},
      {"ScatterThenGatherIsAllReduce", ScatterThenGatherIsAllReduce},
      {"GatherOfUnequalParts", GatherOfUnequalParts},
      {"FastReduceScatterAddsUp", FastReduceScatterAddsUp},
  };
}

}  // namespace lockstep::comm_suite
