// Over threads: 4 to 9 GB of memory, so a soak.

#include "gtest/gtest.h"
#include "parallel/comm_suite.h"
#include "parallel/thread_comm.h"

namespace lockstep {
namespace {

TEST(CommLargeTest, CountsBeyond31Bits) {
  const absl::Status status = RunThreadRanks(2, comm_suite::LargeCase().run);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace lockstep
