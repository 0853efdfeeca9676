// What every transport must do, as cases that all its ranks run together.
//
// One suite over threads and processes, for any number of ranks: a case is the
// body of one rank, checks with EXPECT_*, and compares across ranks by
// gathering. What it is not: cases in which a rank is lost; those end a world,
// and each transport has its own.

#ifndef PARALLEL_COMM_SUITE_H_
#define PARALLEL_COMM_SUITE_H_

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "parallel/communicator.h"

namespace lockstep::comm_suite {

struct Case {
  const char* name;
  absl::Status (*run)(Communicator& comm);
  int min_ranks = 1;
  bool power_of_two = false;

  bool Fits(int ranks) const {
    return ranks >= min_ranks &&
           (!power_of_two || std::has_single_bit(static_cast<unsigned>(ranks)));
  }
};

// All cases, in a fixed order.
std::vector<Case> AllCases();

// Apart, since it takes gigabytes.
Case LargeCase();

// The files of the suite.
std::vector<Case> SumCases();
std::vector<Case> ScatterCases();
std::vector<Case> MoveCases();
std::vector<Case> OverlapCases();

// Up to 200 microseconds, a function of (round, rank).
void ArriveLate(uint64_t round, int rank);

// Rank `rank`'s i-th value: of either sign, magnitudes that make any change of
// order visible.
float ValueOf(int rank, size_t i);

std::vector<uint32_t> BitsOf(std::span<const float> values);

// Whether all ranks hold the same bytes; an EXPECT_ failure names two that do
// not. Collective.
absl::Status ExpectSameOnAllRanks(Communicator& comm,
                                  std::span<const float> values);

// Equal bits, or a failure with count, first index and both values in hex.
void ExpectBits(std::span<const float> actual, std::span<const float> expected);

}  // namespace lockstep::comm_suite

#endif  // PARALLEL_COMM_SUITE_H_
