// Buffers whose bytes do not count in 31 bits.

#include <cstdint>
#include <vector>

#include "determinism/status.h"
#include "gtest/gtest.h"
#include "parallel/comm_suite.h"

namespace lockstep::comm_suite {
namespace {

constexpr size_t kWords = (size_t{1} << 28) + 8;  // 2 GiB and 64 bytes

// Few words are looked at: both ends, and around the 31st bit of the bytes.
std::vector<size_t> Places() {
  return {0, 1, kWords / 2, kWords - 9, kWords - 8, kWords - 7, kWords - 1};
}

int64_t Mark(size_t place, int rank) {
  return static_cast<int64_t>(place) * 10 + rank;
}

absl::Status CountsBeyond31Bits(Communicator& comm) {
  std::vector<int64_t> words(kWords, 0);
  const auto bytes = std::as_writable_bytes(std::span(words));
  if (comm.rank() == 0) {
    for (const size_t place : Places()) words[place] = Mark(place, 3);
  }
  LS_RETURN_IF_ERROR(comm.Broadcast(bytes, 0));
  for (const size_t place : Places()) EXPECT_EQ(words[place], Mark(place, 3));
  for (const size_t place : Places()) words[place] = Mark(place, comm.rank());
  LS_RETURN_IF_ERROR(comm.AllReduceSum(words));
  const int64_t ranks = comm.size();
  for (const size_t place : Places()) {
    EXPECT_EQ(words[place], Mark(place, 0) * ranks + ranks * (ranks - 1) / 2);
  }
  if (comm.rank() == 0) return comm.Send(bytes, 1, 0);
  if (comm.rank() > 1) return absl::OkStatus();
  for (const size_t place : Places()) words[place] = -1;
  LS_RETURN_IF_ERROR(comm.Recv(bytes, 0, 0));
  for (const size_t place : Places()) EXPECT_NE(words[place], -1);
  return absl::OkStatus();
}

}  // namespace

Case LargeCase() { return {"CountsBeyond31Bits", CountsBeyond31Bits, 2}; }

}  // namespace lockstep::comm_suite
