// Reads of real files: bytes past the system's cache and through it.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "determinism/file_system.h"
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

}  // namespace
}  // namespace lockstep
