// Reads of real files: bytes past the system's cache and through it.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

// Whole pages to whole pages of memory come past the system's cache, where it
// can be passed by; nobody may see that by the bytes.
TEST(PosixReadTest, LargeReadsOfWholePagesAreLikeAnyOther) {
  FileSystem& fs = *PosixFileSystem();
  const char* const base = std::getenv("TEST_TMPDIR");
  const std::string path = JoinPath(base == nullptr ? "/tmp" : base, "pages");
  constexpr size_t kBytes = (size_t{3} << 20) + 5000;
  std::string text(kBytes, '\0');
  for (size_t i = 0; i < kBytes; ++i) text[i] = static_cast<char>(i * i >> 9);
  ASSERT_TRUE(WriteFileAtomically(fs, path, text).ok());
  const auto file = *fs.OpenRead(path);
  // The name comes to mean another file; the open one is read.
  ASSERT_TRUE(WriteFileAtomically(fs, path, "another").ok());
  std::vector<char> room(kBytes + 8192);
  char* const page =
      room.data() + (4096 - reinterpret_cast<uintptr_t>(room.data()) % 4096);
  for (const size_t from : {size_t{0}, size_t{4096}, size_t{4097}}) {
    for (const size_t to : {kBytes, size_t{2} << 20, (size_t{2} << 20) + 1}) {
      std::fill(room.begin(), room.end(), 'x');
      ASSERT_TRUE(file->ReadAt(from, to - from, page).ok());
      EXPECT_TRUE(std::equal(page, page + (to - from), text.data() + from));
      EXPECT_EQ(page[to - from], 'x');
    }
  }
  EXPECT_EQ(file->ReadAt(4096, kBytes - 4095, page).code(),
            absl::StatusCode::kDataLoss);
}

// A sparse file of terabytes costs nothing to make, and ended in bad_alloc.
TEST(PosixReadTest, AFileThatNoMemoryHoldsIsRefusedUnread) {
  FileSystem& fs = *PosixFileSystem();
  const std::string path = testing::TempDir() + "/sparse";
  ASSERT_TRUE(WriteFileAtomically(fs, path, "text").ok());
  ASSERT_EQ(truncate(path.c_str(), (off_t{16} << 30) + 1), 0);
  const absl::Status refused = fs.ReadFile(path).status();
  EXPECT_EQ(ExitCodeFor(refused), 2) << refused;
  EXPECT_NE(refused.message().find("are read whole"), std::string::npos);
  EXPECT_NE(refused.message().find(path), std::string::npos);
  ASSERT_EQ(truncate(path.c_str(), 5), 0);
  EXPECT_EQ(*fs.ReadFile(path), std::string("text\0", 5));
}

}  // namespace
}  // namespace lockstep
