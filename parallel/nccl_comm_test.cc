#include "parallel/nccl_comm.h"

#include <string>

#include "gtest/gtest.h"
#include "parallel/thread_comm.h"

namespace lockstep {
namespace {

TEST(NcclCommTest, SaysThatItIsNotBuiltYet) {
  const auto bootstrap = MakeThreadComms(1);
  const auto comm = MakeNcclComm(*bootstrap[0], {});
  EXPECT_EQ(comm.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(comm.status().message()).find("not built yet"),
            std::string::npos);
  EXPECT_TRUE(NcclHeaderVersion() == 0 || NcclHeaderVersion() >= 21800);
}

}  // namespace
}  // namespace lockstep
