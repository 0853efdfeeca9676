#include "data/checked_file.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "data/block_hash.h"
#include "data/test_files.h"
#include "data/token_file.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr int64_t kTokensPerBlock = kHashBlockBytes / 2;

// Five blocks and three tokens of uint16; the last block is short.
std::vector<int32_t> FiveBlocks() {
  std::vector<int32_t> tokens(5 * kTokensPerBlock + 3);
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>(i * 31 % 257);
  }
  return tokens;
}

void WriteFiveBlocks(FileSystem& fs, const std::string& prefix) {
  WriteTestTokens(fs, prefix, 257, {FiveBlocks()}, int64_t{1} << 30);
}

// In place, as a writer that renames nothing does it.
void Overwrite(FileSystem& fs, const std::string& path,
               const std::string& contents) {
  auto file = fs.Create(path);
  LS_CHECK(file.ok());
  LS_CHECK((*file)->Append(contents).ok());
  LS_CHECK((*file)->Close().ok());
}

void ExpectStops(const absl::Status& status,
                 const std::vector<std::string>& told) {
  EXPECT_EQ(ExitCodeFor(status), 2);
  for (const std::string& text : told) {
    EXPECT_NE(MessageOf(status).find(text), std::string::npos)
        << "no '" << text << "' in: " << MessageOf(status);
  }
}

TEST(CheckedFileTest, ADamagedBlockStopsTheReadThatTouchesItAndNoOther) {
  MemoryFileSystem fs;
  WriteFiveBlocks(fs, "/d/t");
  std::string bin = ReadTestFile(fs, "/d/t.bin");
  bin[2 * kHashBlockBytes + 77] ^= 1;
  WriteTestFile(fs, "/d/t.bin", bin);
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_TRUE(file.ok()) << MessageOf(file.status());
  EXPECT_TRUE((*file)->has_block_hashes());
  const std::vector<int32_t> all = FiveBlocks();
  int64_t stopped = 0;
  int64_t passed = 0;
  for (int64_t at = 0; at + 10 <= static_cast<int64_t>(all.size());
       at += kTokensPerBlock / 4) {
    for (const int64_t first : {at, std::max<int64_t>(0, at - 5)}) {
      std::vector<int32_t> tokens(10);
      const absl::Status status = (*file)->Read(first, tokens);
      const bool touches =
          first + 9 >= 2 * kTokensPerBlock && first < 3 * kTokensPerBlock;
      if (touches) {
        ExpectStops(status, {"/d/t.bin", "block 2", "2097152 to 3145728"});
        ++stopped;
      } else {
        ASSERT_TRUE(status.ok()) << MessageOf(status);
        EXPECT_TRUE(
            std::equal(tokens.begin(), tokens.end(), all.begin() + first));
        ++passed;
      }
    }
  }
  EXPECT_EQ(stopped, 9);
  EXPECT_GT(passed, 25);
}

TEST(CheckedFileTest, DamageAtEitherEndIsToldAtTheStart) {
  for (const size_t at : {size_t{0}, 5 * kHashBlockBytes + 5}) {
    MemoryFileSystem fs;
    WriteFiveBlocks(fs, "/d/t");
    std::string bin = ReadTestFile(fs, "/d/t.bin");
    bin[at] ^= 1;
    WriteTestFile(fs, "/d/t.bin", bin);
    ExpectStops(TokenFile::Open(fs, "/d/t").status(), {"/d/t.bin", "block"});
  }
}

// spotify/annoy#335: a mapped file overwritten under its reader: killed by
// SIGBUS where it got shorter, other values where it did not. On a real file
// system, since the test double cannot raise the signal.
TEST(CheckedFileTest, AFileOverwrittenUnderARunStopsIt) {
  FileSystem& fs = *PosixFileSystem();
  const std::string prefix = std::string(std::getenv("TEST_TMPDIR")) + "/over";
  for (const bool hashed : {true, false}) {
    for (const bool shorter : {true, false}) {
      WriteFiveBlocks(fs, prefix);
      if (!hashed) {
        ASSERT_TRUE(fs.Remove(prefix + ".blocks").ok());
      }
      const auto file = TokenFile::Open(fs, prefix);
      ASSERT_TRUE(file.ok()) << MessageOf(file.status());
      EXPECT_EQ((*file)->has_block_hashes(), hashed);
      std::vector<int32_t> tokens(100);
      ASSERT_TRUE((*file)->Read(4 * kTokensPerBlock, tokens).ok());
      std::string other = ReadTestFile(fs, prefix + ".bin");
      for (char& c : other) c = '\1';
      if (shorter) other.resize(5);
      Overwrite(fs, prefix + ".bin", other);
      for (const int64_t first : {int64_t{0}, 4 * kTokensPerBlock}) {
        ExpectStops((*file)->Read(first, tokens), {prefix + ".bin"});
      }
    }
  }
}

// The same report: whoever writes a new file and renames it over the old one
// disturbs no reader. The index, which is read by the entry, likewise.
TEST(CheckedFileTest, AFileReplacedByRenameIsReadOnAsItWas) {
  FileSystem& fs = *PosixFileSystem();
  const std::string prefix = std::string(std::getenv("TEST_TMPDIR")) + "/moved";
  WriteFiveBlocks(fs, prefix);
  const auto file = TokenFile::Open(fs, prefix);
  ASSERT_TRUE(file.ok()) << MessageOf(file.status());
  WriteTestTokens(fs, prefix, 257, {{1, 2}, {3}});
  ASSERT_EQ((*TokenFile::Open(fs, prefix))->token_count(), 3);
  std::vector<int32_t> now(FiveBlocks().size());
  ASSERT_TRUE((*file)->Read(0, now).ok());
  EXPECT_EQ(now, FiveBlocks());
  EXPECT_EQ(*(*file)->DocumentStart(1), static_cast<int64_t>(now.size()));
  EXPECT_TRUE((*file)->CheckTables().ok());
}

TEST(CheckedFileTest, AnIndexOverwrittenUnderARunStopsIt) {
  FileSystem& fs = *PosixFileSystem();
  const std::string prefix = std::string(std::getenv("TEST_TMPDIR")) + "/index";
  for (const bool shorter : {true, false}) {
    WriteTestTokens(fs, prefix, 257, {{1, 2}, {3}, {4, 5}});
    const auto file = TokenFile::Open(fs, prefix);
    ASSERT_TRUE(file.ok()) << MessageOf(file.status());
    ASSERT_EQ(*(*file)->DocumentStart(1), 2);
    const std::string old = ReadTestFile(fs, prefix + ".idx");
    Overwrite(fs, prefix + ".idx",
              shorter ? old.substr(0, 20) : std::string(old.size(), '\1'));
    ExpectStops((*file)->DocumentStart(1).status(), {prefix + ".idx"});
    ExpectStops((*file)->CheckTables(), {prefix + ".idx"});
  }
}

TEST(CheckedFileTest, ThreadsShareAReader) {
  MemoryFileSystem fs;
  WriteFiveBlocks(fs, "/d/t");
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_TRUE(file.ok());
  const std::vector<int32_t> all = FiveBlocks();
  std::vector<int64_t> equal(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < equal.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<int32_t> tokens(1000);
      for (int64_t at = 0; at + 1000 <= static_cast<int64_t>(all.size());
           at += kTokensPerBlock / 3) {
        const bool same =
            (*file)->Read(at, tokens).ok() &&
            std::equal(tokens.begin(), tokens.end(), all.begin() + at);
        equal[t] += same ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int64_t count : equal) EXPECT_EQ(count, 15);
}

}  // namespace
}  // namespace lockstep
