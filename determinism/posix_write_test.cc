// Large pieces in whole pages go past the system's cache; no byte shows it.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "determinism/file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kPiece = size_t{1} << 20;

class PosixWriteTest : public testing::Test {
 protected:
  PosixWriteTest() {
    const char* base = std::getenv("TEST_TMPDIR");
    std::string pattern =
        JoinPath(base == nullptr ? "/tmp" : base, "posix_write_XXXXXX");
    dir_ = mkdtemp(pattern.data());
    for (size_t i = 0; i < memory_.size(); ++i) {
      memory_[i] = static_cast<char>(i * 2654435761u >> 13);
    }
    const size_t past = reinterpret_cast<uintptr_t>(memory_.data()) % kPage;
    page_ = memory_.data() + (past == 0 ? 0 : kPage - past);
  }
  ~PosixWriteTest() override { std::filesystem::remove_all(dir_); }

  // Whether the file system takes such writes at all.
  bool Takes() const {
    const std::string path = JoinPath(dir_, "probe");
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_DIRECT, 0666);
    if (fd < 0) return false;
    const bool took = write(fd, page_, kPage) == static_cast<ssize_t>(kPage);
    close(fd);
    return took;
  }

  // Writes the pieces, each from `shift` bytes past a page of memory on.
  std::string Write(const std::vector<size_t>& pieces, size_t shift) {
    const std::string path = JoinPath(dir_, "file");
    auto file = fs_.Create(path);
    EXPECT_TRUE(file.ok()) << file.status();
    std::string expected;
    for (const size_t bytes : pieces) {
      const std::string_view piece(page_ + shift, bytes);
      EXPECT_TRUE((*file)->Append(piece).ok());
      expected += piece;
    }
    EXPECT_TRUE((*file)->Sync().ok());
    EXPECT_TRUE((*file)->Close().ok());
    EXPECT_EQ((*fs_.OpenRead(path))->Size(), expected.size());
    return expected;
  }
  // Pages of the file in the system's cache.
  size_t Cached() const {
    const int fd = open(JoinPath(dir_, "file").c_str(), O_RDONLY);
    const auto bytes = static_cast<size_t>(lseek(fd, 0, SEEK_END));
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    std::vector<unsigned char> resident((bytes + kPage - 1) / kPage);
    EXPECT_EQ(mincore(mapped, bytes, resident.data()), 0);
    munmap(mapped, bytes);
    close(fd);
    size_t count = 0;
    for (const unsigned char page : resident) count += page & 1;
    return count;
  }

  FileSystem& fs_ = *PosixFileSystem();
  std::string dir_;
  std::vector<char> memory_ = std::vector<char>(4 * kPiece);
  char* page_ = nullptr;
};

testing::AssertionResult Refuses(const absl::Status& status,
                                 const std::string& text) {
  if (ExitCodeFor(status) == 2 &&
      status.message().find(text) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << status;
}

TEST_F(PosixWriteTest, EveryCutGivesTheSameBytes) {
  const std::vector<std::vector<size_t>> kCuts = {
      {kPage, 2 * kPiece, kPiece + 5, 77},
      {2 * kPiece},
      {2 * kPiece + kPage - 1},
      {5, 2 * kPiece, kPiece},
      {kPiece + 1, kPiece, kPage - 1, kPiece, kPiece},
      {3 * kPage + 70'000, 2 * kPiece}};
  int64_t compared = 0;
  for (const size_t shift : {size_t{0}, size_t{8}}) {
    for (const auto& pieces : kCuts) {
      const std::string expected = Write(pieces, shift);
      EXPECT_TRUE(*fs_.ReadFile(JoinPath(dir_, "file")) == expected)
          << shift << ", " << pieces.size();
      ++compared;
    }
  }
  EXPECT_EQ(compared, 12);
}

TEST_F(PosixWriteTest, WholePagesStayOutOfTheCacheAndOthersDoNot) {
  if (!Takes()) GTEST_SKIP() << "this file system has no O_DIRECT";
  Write({kPage, 2 * kPiece, kPiece + 5}, 0);
  EXPECT_LE(Cached(), 2u);  // the first page, and the tail
  Write({kPage, 2 * kPiece, kPiece + 5}, 8);
  EXPECT_GT(Cached(), 2 * kPiece / kPage);
}

// An output that was sent to /dev/full, as root, took the device's place.
TEST_F(PosixWriteTest, NoOutputTakesThePlaceOfADeviceOrAPipe) {
  const std::string pipe = JoinPath(dir_, "pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(WriteFileAtomically(fs_, pipe, "page").ok());
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_FALSE(fs_.Exists(pipe + ".tmp"));
  EXPECT_TRUE(WriteFileAtomically(fs_, JoinPath(dir_, "file"), "page").ok());
}

// A log that was a pipe held a run for ever; with a reader, it takes a while.
TEST_F(PosixWriteTest, OpeningWaitsForNobody) {
  const std::string pipe = JoinPath(dir_, "pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(Refuses(fs_.OpenAppend(pipe).status(), "no regular file"));
  EXPECT_TRUE(Refuses(fs_.Create(pipe).status(), "no regular file"));
  EXPECT_TRUE(absl::IsAlreadyExists(fs_.CreateNew(pipe).status()));
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(Refuses(fs_.OpenAppend(pipe).status(), "no regular file"));
  close(reader);
  EXPECT_TRUE(Refuses(WriteFileAtomically(fs_, pipe, "page"), "regular"));
}

TEST_F(PosixWriteTest, ASocketIsNoFile) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(dir_);  // a socket's name is a short one
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(bind(made, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  std::filesystem::current_path(before);
  const std::string path = JoinPath(dir_, "socket");
  EXPECT_TRUE(Refuses(fs_.OpenAppend(path).status(), "no regular file"));
  EXPECT_TRUE(Refuses(fs_.ReadFile(path).status(), "no regular file"));
  close(made);
}

// A device is written to as ever, by its name or by a link.
TEST_F(PosixWriteTest, ADeviceIsWrittenTo) {
  const std::string link = JoinPath(dir_, "link");
  ASSERT_EQ(symlink("/dev/null", link.c_str()), 0);
  for (const std::string& path : {std::string("/dev/null"), link}) {
    auto file = fs_.OpenAppend(path);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE((*file)->Append("text").ok());
    EXPECT_TRUE((*file)->Close().ok());
  }
}

TEST_F(PosixWriteTest, WhatAUserCanMendIsNoInternalError) {
  const std::string link = JoinPath(dir_, "link"), loop = link + "s";
  ASSERT_EQ(symlink((dir_ + "/gone/file").c_str(), link.c_str()), 0);
  ASSERT_EQ(symlink(loop.c_str(), loop.c_str()), 0);
  EXPECT_TRUE(Refuses(fs_.OpenAppend(link).status(), "symbolic link to what"));
  EXPECT_TRUE(Refuses(fs_.Create(link).status(), "symbolic link to what"));
  EXPECT_TRUE(Refuses(fs_.OpenAppend(loop).status(), "symbolic link"));
  EXPECT_TRUE(absl::IsNotFound(fs_.ReadFile(link).status()));
  EXPECT_TRUE(absl::IsNotFound(fs_.Create(dir_ + "/gone/file").status()));
  ASSERT_TRUE(fs_.MakeDirs(dir_ + "/folder/full").ok());
  EXPECT_TRUE(Refuses(fs_.Remove(dir_ + "/folder"), "not empty"));
}

}  // namespace
}  // namespace lockstep
