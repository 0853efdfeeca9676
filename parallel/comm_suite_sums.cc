// All-reduce: one written order, the same bits on all ranks.

#include <cstdint>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"

namespace lockstep::comm_suite {
namespace {

// Public report open-mpi/ompi#12258 (and open-mpi/ompi#11721 before): one
// all-reduce gave ranks different sums of the same four numbers, each having
// added its own first. 1e8 + 1 rounds to 1e8, so order 0123 gives 1, 0213 gives
// 2 and 1302 gives 0. Ranks arrive in any order, a hundred times.
absl::Status SameSumWhoeverComesFirst_OpenMpi12258(Communicator& comm) {
  constexpr float kValues[] = {1e8f, 1.0f, -1e8f, 1.0f};
  float expected = kValues[0];
  for (int rank = 1; rank < comm.size(); ++rank) expected += kValues[rank % 4];
  if (comm.size() == 4) {
    EXPECT_EQ(expected, 1.0f);
  }
  for (uint64_t round = 0; round < 100; ++round) {
    float sum = kValues[comm.rank() % 4];
    ArriveLate(round, comm.rank());
    LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(std::span(&sum, 1)));
    ExpectBits(std::span(&sum, 1), std::span(&expected, 1));
    LS_RETURN_IF_ERROR(ExpectSameOnAllRanks(comm, std::span(&sum, 1)));
  }
  return absl::OkStatus();
}

// The canary to it: another order is another sum.
absl::Status OrderMatters_OpenMpi12258(Communicator&) {
  volatile float a = 1e8f, b = 1.0f, c = -1e8f, d = 1.0f;
  EXPECT_EQ(((a + b) + c) + d, 1.0f);
  EXPECT_EQ(((a + c) + b) + d, 2.0f);
  EXPECT_EQ(((b + d) + a) + c, 0.0f);
  EXPECT_EQ((a + b) + (c + d), 0.0f);
  return absl::OkStatus();
}

absl::Status OrderedSumIsTheChainByRank_N2(Communicator& comm) {
  for (const size_t count : {0, 1, 7, 1000, 150'000}) {
    std::vector<float> expected(count), sum(count);
    for (size_t i = 0; i < count; ++i) {
      expected[i] = ValueOf(0, i);
      for (int r = 1; r < comm.size(); ++r) expected[i] += ValueOf(r, i);
      sum[i] = ValueOf(comm.rank(), i);
    }
    LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(sum));
    ExpectBits(sum, expected);
  }
  return absl::OkStatus();
}

float TreeOf(int first, int ranks, size_t i) {
  if (ranks == 1) return ValueOf(first, i);
  const int half = ranks / 2;
  return TreeOf(first, half, i) + TreeOf(first + half, half, i);
}

absl::Status TreeSumIsTheBalancedTree_N4(Communicator& comm) {
  for (const size_t count : {0, 1, 1023, 1025, 80'000}) {
    std::vector<float> expected(count), sum(count), chain(count);
    for (size_t i = 0; i < count; ++i) {
      expected[i] = TreeOf(0, comm.size(), i);
      sum[i] = chain[i] = ValueOf(comm.rank(), i);
    }
    LS_RETURN_IF_ERROR(comm.AllReduceTree(sum));
    ExpectBits(sum, expected);
    LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(chain));
    // A test that could not tell the tree from the chain would prove nothing.
    if (comm.size() >= 4 && count > 1) {
      EXPECT_NE(BitsOf(chain), BitsOf(sum));
    }
  }
  return absl::OkStatus();
}

// A rank with several slices holds a subtree: every degree that divides the
// grid gives the bits of one rank.
absl::Status EveryDegreeGivesTheBitsOfTheGrid_N4(Communicator& comm) {
  constexpr int kGrid = 8;
  constexpr size_t kCount = 500;
  const int slices = kGrid / comm.size();
  std::vector<float> expected(kCount), sum(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    expected[i] = TreeOf(0, kGrid, i);
    sum[i] = TreeOf(comm.rank() * slices, slices, i);
  }
  LS_RETURN_IF_ERROR(comm.AllReduceTree(sum));
  ExpectBits(sum, expected);
  return absl::OkStatus();
}

absl::Status SumsFlushSubnormals_N2(Communicator& comm) {
  const bool even = comm.rank() % 2 == 0;
  const float mine = comm.rank() > 1 ? 0.0f : even ? 0x1.8p-126f : -0x1p-126f;
  std::vector<float> ordered = {mine}, tree = {mine};
  LS_RETURN_IF_ERROR(comm.AllReduceOrderedSum(ordered));
  EXPECT_EQ(BitsOf(ordered), std::vector<uint32_t>{0});
  if (comm.size() % 2 == 0 && comm.size() != 6) {
    LS_RETURN_IF_ERROR(comm.AllReduceTree(tree));
    EXPECT_EQ(BitsOf(tree), std::vector<uint32_t>{0});
  }
  return absl::OkStatus();
}

absl::Status IntegerSumAndMaximum_N5(Communicator& comm) {
  for (uint64_t round = 0; round < 20; ++round) {
    const int64_t rank = comm.rank(), size = comm.size();
    std::vector<int64_t> sum = {rank, INT64_MAX, -5}, most = {-rank, rank};
    ArriveLate(round, comm.rank());
    LS_RETURN_IF_ERROR(comm.AllReduceSum(std::span<int64_t>(sum)));
    LS_RETURN_IF_ERROR(comm.AllReduceMax(std::span<int64_t>(most)));
    EXPECT_EQ(sum[0], size * (size - 1) / 2);
    EXPECT_EQ(static_cast<uint64_t>(sum[1]),  // wraps
              static_cast<uint64_t>(size) * static_cast<uint64_t>(INT64_MAX));
    EXPECT_EQ(sum[2], -5 * size);
    EXPECT_EQ(most, (std::vector<int64_t>{0, size - 1}));
  }
  return absl::OkStatus();
}

absl::Status FloatMaximumKnowsZerosSubnormalsAndNan(Communicator& comm) {
  const float nan = std::bit_cast<float>(0xffc12345u);
  const float infinity = std::bit_cast<float>(0x7f800000u);
  const bool last = comm.rank() == comm.size() - 1;
  std::vector<float> most = {last ? 0.0f : -0.0f,
                             last ? -0x1p-149f : -0x1p-148f,
                             last ? nan : infinity, -1.5f};
  LS_RETURN_IF_ERROR(comm.AllReduceMax(std::span<float>(most)));
  EXPECT_EQ(BitsOf(most),
            (std::vector<uint32_t>{0, 0x80000001u, 0x7fc00000u, 0xbfc00000u}));
  return absl::OkStatus();
}

// Small integers add up exactly in any order; of what does not, all ranks have
// the same.
absl::Status FastSumAddsUp(Communicator& comm) {
  for (const size_t count : {0, 1, 100'000}) {
    std::vector<float> sum(count, static_cast<float>(comm.rank() + 1));
    LS_RETURN_IF_ERROR(comm.AllReduceFastSum(sum));
    const int size = comm.size();
    const std::vector<float> expected(
        count, static_cast<float>(size * (size + 1) / 2));
    ExpectBits(sum, expected);
    for (size_t i = 0; i < count; ++i) sum[i] = ValueOf(comm.rank(), i);
    LS_RETURN_IF_ERROR(comm.AllReduceFastSum(sum));
    LS_RETURN_IF_ERROR(ExpectSameOnAllRanks(comm, sum));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Case> SumCases() {
  return {
      {"SameSumWhoeverComesFirst_OpenMpi12258",
       SameSumWhoeverComesFirst_OpenMpi12258},
      {"OrderMatters_OpenMpi12258", OrderMatters_OpenMpi12258},
      {"OrderedSumIsTheChainByRank_N2", OrderedSumIsTheChainByRank_N2},
      {"TreeSumIsTheBalancedTree_N4", TreeSumIsTheBalancedTree_N4, 1, true},
      {"EveryDegreeGivesTheBitsOfTheGrid_N4",
       EveryDegreeGivesTheBitsOfTheGrid_N4, 1, true},
      {"SumsFlushSubnormals_N2", SumsFlushSubnormals_N2, 2},
      {"IntegerSumAndMaximum_N5", IntegerSumAndMaximum_N5},
      {"FloatMaximumKnowsZerosSubnormalsAndNan",
       FloatMaximumKnowsZerosSubnormalsAndNan},
      {"FastSumAddsUp", FastSumAddsUp},
  };
}

}  // namespace lockstep::comm_suite
