// Stretches of files: their bytes, their hashes, and what fails.

#include "ckpt/hashed_reads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/hash_tree.h"

namespace lockstep {
namespace {

constexpr uint64_t kPiece = uint64_t{1} << 20;

HashTree TreeOver(std::string_view bytes,
                  uint64_t block_bytes = kHashBlockBytes) {
  TreeHash hash(block_bytes);
  hash.Update(bytes);
  return hash.Finish();
}

std::string Noise(size_t bytes) {
  std::string text(bytes, '\0');
  uint64_t state = 1;
  for (char& byte : text) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(state >> 56);
  }
  return text;
}

class HashedReadsTest : public testing::Test {
 protected:
  HashedReadsTest() {
    const char* base = std::getenv("TEST_TMPDIR");
    path_ = std::string(base == nullptr ? "/tmp" : base) + "/hashed_reads";
    contents_ = Noise(5 * kPiece + 777);
    EXPECT_TRUE(WriteFileAtomically(fs_, path_, contents_).ok());
    file_ = *fs_.OpenRead(path_);
  }
  ~HashedReadsTest() override { std::filesystem::remove(path_); }

  FileSystem& fs_ = *PosixFileSystem();
  std::string path_;
  std::string contents_;
  std::unique_ptr<RandomAccessFile> file_;
};

// Lengths around a hash's block, a page and a piece, from wherever, to memory
// that is aligned or not, two of a length or of any two lengths.
TEST_F(HashedReadsTest, BytesAndHashesAreThoseOfTheFile) {
  const std::vector<uint64_t> lengths = {0,
                                         1,
                                         63,
                                         64,
                                         65,
                                         4095,
                                         4096,
                                         100'000,
                                         kPiece - 1,
                                         kPiece,
                                         kPiece,
                                         kPiece + 63,
                                         2 * kPiece,
                                         2 * kPiece + 1,
                                         3 * kPiece + 100,
                                         5 * kPiece};
  for (size_t some = 0; some <= lengths.size(); ++some) {
    std::vector<HashedRead> reads;
    std::vector<std::string> memory(some);
    for (size_t i = 0; i < some; ++i) {
      const uint64_t from = i % 3 == 0 ? 777 : 4096 * (i % 5) % 700;
      memory[i].resize(lengths[i] + i);
      auto* const to = reinterpret_cast<std::byte*>(memory[i].data() + i);
      reads.push_back(
          {file_.get(), from, lengths[i], i % 4 == 3 ? nullptr : to});
    }
    const uint64_t block = some % 4 * kPiece;  // 0: one hash
    ReadAndHash(reads, block);
    for (size_t i = 0; i < some; ++i) {
      ASSERT_TRUE(reads[i].status.ok()) << reads[i].status;
      const auto expected = contents_.substr(reads[i].from, lengths[i]);
      const HashTree tree = TreeOver(expected, block);
      EXPECT_EQ(reads[i].tree.root, tree.root) << some << " " << i;
      EXPECT_EQ(reads[i].tree.leaves, tree.leaves) << some << " " << i;
      if (reads[i].to == nullptr) continue;
      EXPECT_TRUE(memory[i].compare(i, std::string::npos, expected) == 0)
          << some << " " << i;
    }
  }
}

TEST_F(HashedReadsTest, TheEndOfTheFileAndWhatLiesBehindIt) {
  std::vector<HashedRead> reads = {
      {file_.get(), contents_.size() - kPiece - 5, kPiece + 5},
      {file_.get(), contents_.size() - 10, 10}};
  ReadAndHash(reads);
  for (const HashedRead& read : reads) {
    EXPECT_EQ(read.tree.root,
              TreeOver(std::string_view(contents_).substr(read.from)).root);
  }
  reads.push_back({file_.get(), contents_.size() - kPiece - 5, kPiece + 6});
  for (HashedRead& read : reads) read.tree = {};
  ReadAndHash(reads);
  EXPECT_EQ(reads[2].status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(reads[2].tree.root, "");
  EXPECT_TRUE(reads[0].status.ok());
}

}  // namespace
}  // namespace lockstep
