#include "determinism/status.h"

#include <cerrno>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(StatusTest, EachClassHasItsExitCode) {
  EXPECT_EQ(ExitCodeFor(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeFor(InputError("a", "b", "c")), 2);
  EXPECT_EQ(ExitCodeFor(ManifestMismatch("a", "b", "c")), 3);
  EXPECT_EQ(ExitCodeFor(NoUsableCheckpoint("a", "b", "c")), 4);
  EXPECT_EQ(ExitCodeFor(NumericFailure("a", "b", "c")), 5);
  EXPECT_EQ(ExitCodeFor(RankLost("a", "b", "c")), 6);
  EXPECT_EQ(ExitCodeFor(StoppedOnRequest("a", "b", "c")), 8);
  EXPECT_EQ(ExitCodeFor(IoError("a", "b", "c")), 7);
  EXPECT_EQ(ExitCodeFor(absl::UnknownError("a")), 7);
}

TEST(StatusTest, SaysWhatWhereAndWhatToDo) {
  const absl::Status status = InputError("unknown key 'sed'", "debug.toml:3",
                                         "write 'seed', the nearest key");
  EXPECT_EQ(std::string(status.message()),
            "unknown key 'sed'\n  where: debug.toml:3\n  do: write 'seed', the "
            "nearest key");
}

TEST(StatusTest, AFullDiskIsToldFromOtherIoErrors) {
  const absl::Status full = IoError("write failed", "x", "free it", ENOSPC);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(std::string(full.message()).find("No space left"),
            std::string::npos);
  const absl::Status broken = IoError("write failed", "x", "retry", EIO);
  EXPECT_EQ(broken.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(ExitCodeFor(full), ExitCodeFor(broken));
}

absl::StatusOr<std::unique_ptr<int>> Box(int value) {
  if (value < 0) return InputError("negative", "Box", "give one >= 0");
  return std::make_unique<int>(value);
}

absl::StatusOr<int> Sum(int a, int b) {
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<int> x, Box(a));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<int> y, Box(b));
  return *x + *y;
}

absl::Status Both(int a, int b) {
  LS_RETURN_IF_ERROR(Box(a).status());
  LS_RETURN_IF_ERROR(Box(b).status());
  return absl::OkStatus();
}

TEST(StatusTest, MacrosHandOnTheFirstError) {
  EXPECT_EQ(*Sum(2, 3), 5);
  EXPECT_EQ(Sum(2, -3).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Both(1, 2).ok());
  EXPECT_FALSE(Both(-1, 2).ok());
  EXPECT_FALSE(Both(1, -2).ok());
}

}  // namespace
}  // namespace lockstep
