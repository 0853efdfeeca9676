// The real file system and what is built on any: atomic writes, paths, clock.

#include "determinism/file_system.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "determinism/clock.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

// A folder of its own a test, removed afterwards.
class PosixTest : public testing::Test {
 protected:
  PosixTest() {
    const char* base = std::getenv("TEST_TMPDIR");
    std::string pattern =
        JoinPath(base == nullptr ? "/tmp" : base, "file_system_XXXXXX");
    dir_ = mkdtemp(pattern.data());
  }
  ~PosixTest() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& name) const {
    return JoinPath(dir_, name);
  }
  void Write(const std::string& name, std::string_view contents) {
    const auto file = fs_.Create(Path(name));
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append(contents).ok());
    ASSERT_TRUE((*file)->Close().ok());
  }

  FileSystem& fs_ = *PosixFileSystem();
  std::string dir_;
};

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

TEST_F(PosixTest, WritesReadsAndAppends) {
  const std::string large(200'000, 'x');  // beyond the buffer
  Write("a", "one");
  auto file = fs_.OpenAppend(Path("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append(large).ok());
  ASSERT_TRUE((*file)->Append("end").ok());
  ASSERT_TRUE((*file)->Sync().ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ(*fs_.ReadFile(Path("a")), "one" + large + "end");
  EXPECT_EQ(fs_.Stat(Path("a"))->size, 200'006u);
}

TEST_F(PosixTest, FlushShowsWhatAppendMayHold) {
  auto file = fs_.Create(Path("a"));
  ASSERT_TRUE((*file)->Append("seen").ok());
  ASSERT_TRUE((*file)->Flush().ok());
  EXPECT_EQ(*fs_.ReadFile(Path("a")), "seen");
}

TEST_F(PosixTest, OfManyCreateNewOneSucceeds) {
  ASSERT_TRUE(fs_.CreateNew(Path("lock")).ok());
  EXPECT_EQ(fs_.CreateNew(Path("lock")).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(PosixTest, ReadsAtOffsetsAndNoticesTheEnd) {
  Write("a", "0123456789");
  const auto file = fs_.OpenRead(Path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->Size(), 10u);
  char out[4] = {};
  ASSERT_TRUE((*file)->ReadAt(6, 4, out).ok());
  EXPECT_EQ(std::string(out, 4), "6789");
  const absl::Status beyond = (*file)->ReadAt(7, 4, out);
  EXPECT_EQ(beyond.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(Text(beyond).find(Path("a")), std::string::npos);
}

// A rename over the path is no change of the file that is open.
TEST_F(PosixTest, AnOpenFileNoticesShrinkingAndWritingAndOutlivesARename) {
  for (const std::string change : {"nothing", "replace", "shrink", "write"}) {
    Write("a", "0123456789");
    const auto file = fs_.OpenRead(Path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->CheckUnchanged().ok());
    if (change == "replace") {
      ASSERT_TRUE(WriteFileAtomically(fs_, Path("a"), "other").ok());
    } else if (change == "shrink") {
      ASSERT_EQ(truncate(Path("a").c_str(), 4), 0);
    } else if (change == "write") {
      usleep(20'000);  // past the clock's tick
      Write("a", "9876543210");
    }
    const bool sound = change == "nothing" || change == "replace";
    EXPECT_EQ((*file)->CheckUnchanged().ok(), sound) << change;
    char out[10];
    if (sound) {
      ASSERT_TRUE((*file)->ReadAt(0, 10, out).ok());
      EXPECT_EQ(std::string(out, 10), "0123456789");
    }
  }
}

TEST_F(PosixTest, FoldersAndLinks) {
  ASSERT_TRUE(fs_.MakeDirs(Path("a/b/c")).ok());
  ASSERT_TRUE(fs_.MakeDirs(Path("a/b/c")).ok());
  Write("a/z", "z");
  Write("a/B", "B");
  std::filesystem::create_symlink(Path("a/z"), Path("a/link"));
  std::filesystem::create_symlink(Path("none"), Path("a/dangling"));
  EXPECT_EQ(*fs_.List(Path("a")),
            (std::vector<std::string>{"B", "b", "dangling", "link", "z"}));
  EXPECT_TRUE(fs_.Stat(Path("a"))->is_dir);
  EXPECT_TRUE(fs_.Stat(Path("a/link"))->is_link);
  EXPECT_EQ(fs_.Stat(Path("a/link"))->size, 1u);
  EXPECT_FALSE(fs_.Exists(Path("a/dangling")));
  EXPECT_FALSE(fs_.Stat(Path("a/dangling")).ok());
  ASSERT_TRUE(fs_.SyncDir(Path("a")).ok());
  ASSERT_TRUE(fs_.Remove(Path("a/link")).ok());
  EXPECT_TRUE(fs_.Exists(Path("a/z")));  // the target stays
  EXPECT_FALSE(fs_.Remove(Path("a")).ok());
  ASSERT_TRUE(fs_.RemoveTree(Path("a")).ok());
  ASSERT_TRUE(fs_.RemoveTree(Path("a")).ok());
  EXPECT_FALSE(fs_.Exists(Path("a")));
}

TEST_F(PosixTest, ErrorsNameThePathTheReasonAndTheRemedy) {
  Write("file", "x");
  const absl::Status statuses[] = {
      fs_.ReadFile(Path("none")).status(),
      fs_.OpenRead(Path("none")).status(),
      fs_.Create(Path("none/x")).status(),
      fs_.List(Path("none")).status(),
      fs_.Stat(Path("none")).status(),
      fs_.Rename(Path("none"), Path("y")),
      fs_.Remove(Path("none")),
      fs_.SyncDir(Path("none")),
      fs_.FreeBytes(Path("none")).status(),
  };
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
    EXPECT_NE(Text(status).find(Path("none")), std::string::npos) << status;
    EXPECT_NE(Text(status).find("No such file"), std::string::npos) << status;
    EXPECT_NE(Text(status).find("\n  do: "), std::string::npos) << status;
  }
  EXPECT_NE(Text(fs_.MakeDirs(Path("file/x"))).find("Not a directory"),
            std::string::npos);
  EXPECT_NE(Text(fs_.ReadFile(dir_).status()).find("Is a directory"),
            std::string::npos);
  EXPECT_NE(Text(fs_.OpenRead(dir_).status()).find("Is a directory"),
            std::string::npos);
}

TEST_F(PosixTest, AFullDeviceSaysHowMuchWasLeftToWriteAndStaysAnError) {
  if (!fs_.Exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto file = fs_.OpenAppend("/dev/full");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append("12345").ok());  // buffered
  const absl::Status full = (*file)->Sync();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(Text(full).find("5 bytes were still to be written"),
            std::string::npos)
      << full;
  // A second sync would otherwise succeed, with the bytes gone.
  EXPECT_EQ((*file)->Sync().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ((*file)->Close().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(PosixTest, AtomicWriteLeavesTheFileAndNothingElse) {
  ASSERT_TRUE(WriteFileAtomically(fs_, Path("a"), "old").ok());
  ASSERT_TRUE(WriteFileAtomically(fs_, Path("a"), "new").ok());
  EXPECT_EQ(*fs_.ReadFile(Path("a")), "new");
  EXPECT_EQ(*fs_.List(dir_), std::vector<std::string>{"a"});
  ASSERT_TRUE(fs_.MakeDirs(Path("d/x")).ok());
  EXPECT_FALSE(WriteFileAtomically(fs_, Path("d"), "file over folder").ok());
  EXPECT_EQ(*fs_.List(dir_), (std::vector<std::string>{"a", "d"}));
}

TEST_F(PosixTest, TellsFreeSpace) { EXPECT_GT(*fs_.FreeBytes(dir_), 0u); }

TEST(PathTest, TakesPathsApartAndJoinsThem) {
  EXPECT_EQ(DirName("a/b/c"), "a/b");
  EXPECT_EQ(DirName("c"), ".");
  EXPECT_EQ(DirName("/c"), "/");
  EXPECT_EQ(BaseName("a/b/c"), "c");
  EXPECT_EQ(BaseName("c"), "c");
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
}

TEST(ClockTest, ManualClockStandsStillUntilMoved) {
  ManualClock clock(1'000);
  EXPECT_EQ(clock.MonotonicNanos(), 0);
  EXPECT_EQ(clock.UnixMillis(), 1'000);
  clock.AdvanceMillis(5);
  EXPECT_EQ(clock.MonotonicNanos(), 5'000'000);
  EXPECT_EQ(clock.UnixMillis(), 1'005);
}

TEST(ClockTest, RealClockGoesForward) {
  RealClock clock;
  const int64_t before = clock.MonotonicNanos();
  usleep(1'000);
  EXPECT_GE(clock.MonotonicNanos() - before, 1'000'000);
  EXPECT_GT(clock.UnixMillis(), 1'600'000'000'000);  // after 2020
}

}  // namespace
}  // namespace lockstep
