#include "parallel/comm_suite.h"

#include <chrono>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <string>
#include <thread>

#include "determinism/philox.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep::comm_suite {

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (const auto& cases :
       {SumCases(), ScatterCases(), MoveCases(), OverlapCases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

void ArriveLate(uint64_t round, int rank) {
  const uint32_t draw = RandomU32(1, {.stream = Stream::kTest,
                                      .layer = 0,
                                      .item = round,
                                      .element = static_cast<uint64_t>(rank)});
  std::this_thread::sleep_for(std::chrono::microseconds(draw % 200));
}

float ValueOf(int rank, size_t i) {
  const RandomPosition position = {.stream = Stream::kTest,
                                   .layer = static_cast<uint16_t>(rank),
                                   .item = 0,
                                   .element = i};
  return (RandomUniform(1, position) - 0.5f) * (i % 3 == 0 ? 1e8f : 1.0f);
}

std::vector<uint32_t> BitsOf(std::span<const float> values) {
  std::vector<uint32_t> bits(values.size());
  if (!bits.empty()) std::memcpy(bits.data(), values.data(), bits.size() * 4);
  return bits;
}

void ExpectBits(std::span<const float> actual,
                std::span<const float> expected) {
  const std::vector<uint32_t> a = BitsOf(actual), b = BitsOf(expected);
  ASSERT_EQ(a.size(), b.size());
  size_t count = 0, first = 0;
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] == b[i]) continue;
    ++count;
    first = i;
  }
  std::ostringstream told;
  if (count > 0) {
    told << count << " of " << a.size() << " differ, first at " << first
         << std::hex << ": " << a[first] << " against " << b[first];
  }
  EXPECT_EQ(count, 0u) << told.str();
}

absl::Status ExpectSameOnAllRanks(Communicator& comm,
                                  std::span<const float> values) {
  std::vector<float> all(values.size() * static_cast<size_t>(comm.size()));
  LS_RETURN_IF_ERROR(comm.AllGather(std::as_bytes(values),
                                    std::as_writable_bytes(std::span(all))));
  for (int rank = 0; rank < comm.size(); ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank) + " against rank " +
                 std::to_string(comm.rank()));
    ExpectBits(std::span(all).subspan(static_cast<size_t>(rank) * values.size(),
                                      values.size()),
               values);
  }
  return absl::OkStatus();
}

}  // namespace lockstep::comm_suite
