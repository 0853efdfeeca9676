#include "data/token_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "data/block_hash.h"
#include "data/test_files.h"
#include "data/token_file_writer.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

using Documents = std::vector<std::vector<int32_t>>;

const Documents kDocuments = {{1, 2, 3}, {4}, {5, 6, 7, 8, 256}};

std::vector<int32_t> ReadAll(const TokenFile& file) {
  std::vector<int32_t> tokens(file.token_count());
  EXPECT_TRUE(file.Read(0, tokens).ok());
  return tokens;
}

std::string Index(uint8_t type, const std::vector<int32_t>& lengths,
                  const std::vector<int64_t>& offsets,
                  const std::vector<int64_t>& documents) {
  std::string out(kIndexMagic, sizeof(kIndexMagic));
  AppendLittle<uint64_t>(1, out);
  AppendLittle<uint8_t>(type, out);
  AppendLittle<uint64_t>(lengths.size(), out);
  AppendLittle<uint64_t>(documents.size(), out);
  for (const int32_t length : lengths) AppendLittle(length, out);
  for (const int64_t offset : offsets) AppendLittle(offset, out);
  for (const int64_t document : documents) AppendLittle(document, out);
  return out;
}

BlockHashes HashesOf(const std::string& bin, const std::string& idx) {
  BlockHashes hashes = {
      bin.size(), idx.size(), DigestOf(idx.data(), idx.size()), {}};
  for (size_t from = 0; from < bin.size(); from += kHashBlockBytes) {
    const std::string block = bin.substr(from, kHashBlockBytes);
    hashes.blocks.push_back(DigestOf(block.data(), block.size()));
  }
  return hashes;
}

// Opening must fail as the user's input, with `text` in the message.
void ExpectRefused(MemoryFileSystem& fs, const std::string& text) {
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_FALSE(file.ok()) << "accepted; expected: " << text;
  EXPECT_EQ(ExitCodeFor(file.status()), 2);
  const std::string message = MessageOf(file.status());
  EXPECT_NE(message.find(text), std::string::npos) << message;
  EXPECT_NE(message.find("/d/t"), std::string::npos) << message;
  EXPECT_NE(message.find("do: "), std::string::npos) << message;
}

TEST(TokenFileTest, WritesTheGrammarByteForByte) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  std::string bin;
  for (const int id : {1, 2, 3, 4, 5, 6, 7, 8, 256}) {
    AppendLittle<uint16_t>(static_cast<uint16_t>(id), bin);
  }
  EXPECT_EQ(ReadTestFile(fs, "/d/t.bin"), bin);
  EXPECT_EQ(ReadTestFile(fs, "/d/t.idx"),
            Index(8, {3, 1, 5}, {0, 6, 8}, {0, 1, 2, 3}));
  const auto names = fs.List("/d");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, (std::vector<std::string>{"t.bin", "t.blocks", "t.idx"}));
}

TEST(TokenFileTest, ReadsBackWhatWasWritten) {
  MemoryFileSystem fs;
  for (const int64_t vocab : {257, 65499, 65500, 100000}) {
    const TokenFileSummary summary =
        WriteTestTokens(fs, "/d/t", vocab, kDocuments);
    const auto file = TokenFile::Open(fs, "/d/t", vocab);
    ASSERT_TRUE(file.ok()) << MessageOf(file.status());
    EXPECT_EQ((*file)->type(),
              vocab < 65500 ? TokenType::kU16 : TokenType::kI32);
    EXPECT_EQ((*file)->token_count(), 9);
    EXPECT_EQ((*file)->document_count(), 3);
    EXPECT_EQ((*file)->sequence_count(), 3);
    EXPECT_EQ(ReadAll(**file),
              (std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8, 256}));
    EXPECT_EQ((*file)->content_hash(), summary.content_hash);
    std::vector<int32_t> part(3);
    ASSERT_TRUE((*file)->Read(2, part).ok());
    EXPECT_EQ(part, (std::vector<int32_t>{3, 4, 5}));
  }
}

TEST(TokenFileTest, OpensByPrefixOrEitherFile) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  for (const char* name : {"/d/t", "/d/t.bin", "/d/t.idx"}) {
    const auto file = TokenFile::Open(fs, name);
    ASSERT_TRUE(file.ok()) << name;
    EXPECT_EQ((*file)->prefix(), "/d/t");
  }
}

TEST(TokenFileTest, LongDocumentsBecomeSeveralSequences) {
  MemoryFileSystem fs;
  std::vector<int32_t> longer(25);
  std::iota(longer.begin(), longer.end(), 0);
  const auto summary =
      WriteTestTokens(fs, "/d/t", 257, {longer, {7}, longer}, 10);
  EXPECT_EQ(summary.sequences, 7);
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->document_count(), 3);
  EXPECT_EQ((*file)->DocumentStart(1).value(), 25);
  EXPECT_EQ((*file)->DocumentStart(2).value(), 26);
  EXPECT_EQ((*file)->DocumentStart(3).value(), 51);
  for (int64_t token = 0; token < 51; ++token) {
    EXPECT_EQ((*file)->DocumentOf(token).value(), token < 25   ? 0
                                                  : token < 26 ? 1
                                                               : 2);
  }
}

TEST(TokenFileTest, BlocksOfOneMiBEndWhereTheyShould) {
  MemoryFileSystem fs;
  // Two whole blocks and one token.
  std::vector<int32_t> tokens(kHashBlockBytes + 1);
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>(i % 251);
  }
  const auto summary = WriteTestTokens(fs, "/d/t", 257, {tokens}, 1 << 30);
  const std::string bin = ReadTestFile(fs, "/d/t.bin");
  const std::string idx = ReadTestFile(fs, "/d/t.idx");
  EXPECT_EQ(bin.size(), 2 * kHashBlockBytes + 2);
  const BlockHashes whole = HashesOf(bin, idx);
  EXPECT_EQ(whole.blocks.size(), 3u);
  EXPECT_EQ(whole.ContentHash(), summary.content_hash);
  EXPECT_EQ(whole.Serialize(), ReadTestFile(fs, "/d/t.blocks"));
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ReadAll(**file), tokens);
}

TEST(TokenFileTest, EveryTruncationOfTheIndexIsRefused) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  const std::string idx = ReadTestFile(fs, "/d/t.idx");
  ASSERT_TRUE(fs.Remove("/d/t.blocks").ok());
  for (size_t size = 0; size < idx.size(); ++size) {
    WriteTestFile(fs, "/d/t.idx", idx.substr(0, size));
    ExpectRefused(fs, "truncated index");
  }
  WriteTestFile(fs, "/d/t.idx", idx + "x");
  ExpectRefused(fs, "1 bytes more");
  WriteTestFile(fs, "/d/t.idx", idx);
  EXPECT_TRUE(TokenFile::Open(fs, "/d/t").ok());
}

// Each byte of the index decides something; a change must never be read as
// other tokens than were written.
TEST(TokenFileTest, NoFlippedBitOfTheIndexGoesUnnoticed) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  ASSERT_TRUE(fs.Remove("/d/t.blocks").ok());
  const std::string idx = ReadTestFile(fs, "/d/t.idx");
  int64_t refused = 0;
  int64_t harmless = 0;
  for (size_t bit = 0; bit < 8 * idx.size(); ++bit) {
    std::string flipped = idx;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    WriteTestFile(fs, "/d/t.idx", flipped);
    const auto file = TokenFile::Open(fs, "/d/t");
    if (file.ok()) {
      // A boundary of documents moved onto another sequence, or uint16 read
      // as int16: the tokens are the same.
      EXPECT_TRUE(bit / 8 == 17 || bit / 8 >= idx.size() - 24) << bit;
      EXPECT_EQ((*file)->token_count(), 9);
      ++harmless;
    } else {
      EXPECT_EQ(ExitCodeFor(file.status()), 2);
      ++refused;
    }
  }
  EXPECT_EQ(refused + harmless, static_cast<int64_t>(8 * idx.size()));
  EXPECT_LE(harmless, 8);
}

TEST(TokenFileTest, SaysWhatIsWrongWithThePair) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  ASSERT_TRUE(fs.Remove("/d/t.blocks").ok());
  const std::string bin = ReadTestFile(fs, "/d/t.bin");
  const std::string idx = ReadTestFile(fs, "/d/t.idx");

  WriteTestFile(fs, "/d/t.bin", bin.substr(0, bin.size() - 1));
  ExpectRefused(fs,
                "has 17 bytes, and its index (uint16, 2 bytes a token) "
                "counts 18");
  WriteTestFile(fs, "/d/t.bin", bin + bin);  // as if of int32
  ExpectRefused(fs, "of another width");
  WriteTestFile(fs, "/d/t.bin", "");
  ExpectRefused(fs, "truncated");
  ASSERT_TRUE(fs.Remove("/d/t.bin").ok());
  ExpectRefused(fs, "no such token file");
  WriteTestFile(fs, "/d/t.bin", bin);

  WriteTestFile(fs, "/d/t.idx", "NOTINDEX" + idx.substr(8));
  ExpectRefused(fs, "does not begin with MMIDIDX");
  for (const auto& [type, text] :
       std::vector<std::pair<uint8_t, std::string>>{{0, "(unknown)"},
                                                    {6, "(float64)"},
                                                    {7, "(float32)"},
                                                    {9, "(unknown)"},
                                                    {255, "(unknown)"}}) {
    WriteTestFile(fs, "/d/t.idx",
                  Index(type, {3, 1, 5}, {0, 6, 8}, {0, 1, 2, 3}));
    ExpectRefused(fs, "element type " + std::to_string(int{type}) + " " + text);
  }
  WriteTestFile(fs, "/d/t.idx", Index(8, {}, {}, {0}));
  ExpectRefused(fs, "no documents");
  WriteTestFile(fs, "/d/t.idx", Index(8, {3, 1, 5}, {0, 4, 8}, {0, 1, 2, 3}));
  ExpectRefused(fs, "sequence 1 has length 1 and begins at byte 4");
  WriteTestFile(fs, "/d/t.idx", Index(8, {3, -1, 7}, {0, 6, 4}, {0, 1, 2, 3}));
  ExpectRefused(fs, "length -1");
  WriteTestFile(fs, "/d/t.idx", Index(8, {3, 1, 5}, {0, 6, 8}, {0, 2, 1, 3}));
  ExpectRefused(fs, "document 2 begins at sequence 1");
  WriteTestFile(fs, "/d/t.idx", Index(8, {3, 1, 5}, {0, 6, 8}, {0, 1, 2}));
  ExpectRefused(fs, "does not span");
}

TEST(TokenFileTest, HeaderCountsThatWrapAreRefused) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  std::string idx = ReadTestFile(fs, "/d/t.idx");
  for (const uint64_t count :
       {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 62, uint64_t{1} << 61,
        ~uint64_t{0} / 12 + 1, ~uint64_t{0} / 8 + 1}) {
    for (const size_t field : {18, 26}) {
      std::string changed = idx;
      std::string bytes;
      AppendLittle(count, bytes);
      changed.replace(field, 8, bytes);
      WriteTestFile(fs, "/d/t.idx", changed);
      ExpectRefused(fs, "truncated index");
    }
  }
}

TEST(TokenFileTest, AllIntegerTypesAreRead) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/d").ok());
  const std::vector<std::pair<uint8_t, int>> types = {{1, 1}, {2, 1}, {3, 2},
                                                      {4, 4}, {5, 8}, {8, 2}};
  for (const auto& [type, width] : types) {
    std::string bin;
    for (const int64_t id : {5, 0, 127}) {
      bin.append(reinterpret_cast<const char*>(&id), width);
    }
    WriteTestFile(fs, "/d/t.bin", bin);
    WriteTestFile(fs, "/d/t.idx", Index(type, {3}, {0}, {0, 1}));
    const auto file = TokenFile::Open(fs, "/d/t", 128);
    ASSERT_TRUE(file.ok()) << MessageOf(file.status());
    EXPECT_EQ(ReadAll(**file), (std::vector<int32_t>{5, 0, 127}));
  }
}

TEST(TokenFileTest, AnIdBeyondTheVocabularySaysWhere) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 1000, {{1, 2, 3}, {4}, {5, 6, 999, 7}});
  const auto file = TokenFile::Open(fs, "/d/t", 257);
  ASSERT_TRUE(file.ok());
  std::vector<int32_t> tokens(8);
  const absl::Status status = (*file)->Read(0, tokens);
  EXPECT_EQ(ExitCodeFor(status), 2);
  const std::string message = MessageOf(status);
  EXPECT_NE(message.find("/d/t.bin, document 2, position 2 (token 6 of the "
                         "source), id 999, vocab 257"),
            std::string::npos)
      << message;
  // What does not hold it can be read.
  EXPECT_TRUE((*file)->Read(0, std::span(tokens).first(6)).ok());
  EXPECT_TRUE((*file)->Read(7, std::span(tokens).first(1)).ok());
}

TEST(TokenFileTest, NegativeAndWideIdsAreOutsideAnyVocabulary) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/d").ok());
  for (const int64_t id : {int64_t{-1}, int64_t{1} << 32, int64_t{1} << 31,
                           std::numeric_limits<int64_t>::min()}) {
    std::string bin;
    AppendLittle<int64_t>(0, bin);
    AppendLittle<int64_t>(id, bin);
    WriteTestFile(fs, "/d/t.bin", bin);
    WriteTestFile(fs, "/d/t.idx", Index(5, {2}, {0}, {0, 1}));
    const auto file = TokenFile::Open(fs, "/d/t");
    ASSERT_TRUE(file.ok());
    std::vector<int32_t> tokens(2);
    const std::string message = MessageOf((*file)->Read(0, tokens));
    EXPECT_NE(message.find("position 1 (token 1 of the source), id " +
                           std::to_string(id)),
              std::string::npos)
        << message;
  }
}

TEST(TokenFileTest, AnUnfinishedWriterLeavesTheOldPair) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  {
    auto writer = TokenFileWriter::Create(fs, "/d/t", 257);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Append(std::vector<int32_t>{9, 9}).ok());
    EXPECT_EQ(fs.List("/d").value().size(), 6u);
  }
  EXPECT_EQ(fs.List("/d").value(),
            (std::vector<std::string>{"t.bin", "t.blocks", "t.idx"}));
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ReadAll(**file).size(), 9u);
}

// After a power cut at any call the prefix holds the old pair, the new pair,
// or no index; never a mixture that opens.
TEST(TokenFileTest, ACrashLeavesTheOldPairTheNewPairOrNone) {
  const Documents fresh = {{9, 9, 9}, {8}, {7, 7, 7, 7, 256}};  // equal sizes
  int64_t old_pairs = 0;
  int64_t new_pairs = 0;
  int64_t none = 0;
  for (int64_t call = 0;; ++call) {
    MemoryFileSystem fs;
    WriteTestTokens(fs, "/d/t", 257, kDocuments);
    ASSERT_TRUE(fs.SyncDir("/d").ok() && fs.SyncDir("/").ok());
    fs.FailAfter(call);
    bool finished = false;
    {
      auto writer = TokenFileWriter::Create(fs, "/d/t", 257);
      bool good = writer.ok();
      for (size_t i = 0; good && i < fresh.size(); ++i) {
        good =
            (*writer)->Append(fresh[i]).ok() && (*writer)->EndDocument().ok();
      }
      finished = good && (*writer)->Finish().ok();
    }
    fs.Crash(static_cast<uint64_t>(call));
    const auto file = TokenFile::Open(fs, "/d/t");
    if (!file.ok()) {
      EXPECT_FALSE(fs.Exists("/d/t.idx")) << MessageOf(file.status());
      ++none;
    } else {
      const std::vector<int32_t> tokens = ReadAll(**file);
      const bool is_old = tokens[0] == 1 && tokens[7] == 8;
      const bool is_new = tokens[0] == 9 && tokens[7] == 7;
      EXPECT_TRUE(is_old || is_new) << "a mixture after call " << call;
      is_old ? ++old_pairs : ++new_pairs;
    }
    if (finished) {
      EXPECT_TRUE(file.ok());
      break;
    }
  }
  EXPECT_GT(old_pairs, 5);
  EXPECT_GT(none, 0);
  EXPECT_GT(new_pairs, 0);
}

// 10^12 tokens as a sparse file: opening takes page reads, not a scan.
TEST(TokenFileTest, ATrillionTokensOpenWithinASecond) {
  const std::string prefix = std::string(std::getenv("TEST_TMPDIR")) + "/huge";
  constexpr int64_t kPerSequence = (int64_t{1} << 31) - 1;
  int64_t tokens = 0;
  for (int64_t target : {int64_t{1000000000000}, int64_t{100000000000}}) {
    const int fd = ::open((prefix + ".bin").c_str(), O_CREAT | O_RDWR, 0644);
    ASSERT_GE(fd, 0);
    const bool grown = ::ftruncate(fd, 2 * target) == 0;
    // Something to find at the far end.
    const uint16_t last = 77;
    const bool written = grown && ::pwrite(fd, &last, 2, 2 * (target - 1)) == 2;
    ::close(fd);
    if (written) {
      tokens = target;
      break;
    }
  }
  ASSERT_GT(tokens, 0) << "the file system takes no sparse file";
  std::vector<int32_t> lengths;
  std::vector<int64_t> offsets;
  std::vector<int64_t> documents = {0};
  for (int64_t first = 0; first < tokens; first += kPerSequence) {
    offsets.push_back(2 * first);
    lengths.push_back(
        static_cast<int32_t>(std::min(kPerSequence, tokens - first)));
    documents.push_back(static_cast<int64_t>(lengths.size()));
  }
  FileSystem& fs = *PosixFileSystem();
  WriteTestFile(fs, prefix + ".idx", Index(8, lengths, offsets, documents));

  const auto begin = std::chrono::steady_clock::now();
  const auto file = TokenFile::Open(fs, prefix, 257);
  ASSERT_TRUE(file.ok()) << MessageOf(file.status());
  std::vector<int32_t> tail(1000);
  ASSERT_TRUE((*file)->Read(tokens - 1000, tail).ok());
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  printf("%lld tokens: opened and read in %.6f s\n",
         static_cast<long long>(tokens), seconds.count());
  EXPECT_LT(seconds.count(), 1.0);
  EXPECT_EQ((*file)->token_count(), tokens);
  EXPECT_EQ(tail[999], 77);
  EXPECT_EQ(tail[998], 0);
  EXPECT_EQ((*file)->DocumentOf(tokens - 1).value(),
            static_cast<int64_t>(lengths.size()) - 1);
  EXPECT_EQ((*file)->content_hash(), "");
  ::unlink((prefix + ".bin").c_str());
}

TEST(BlockHashTest, DamageIsFoundWhereItIs) {
  MemoryFileSystem fs;
  const std::vector<int32_t> tokens(4 * kHashBlockBytes / 2 + 3, 42);
  WriteTestTokens(fs, "/d/t", 257, {tokens}, 1 << 30);
  auto damage = VerifyBlocks(fs, "/d/t");
  ASSERT_TRUE(damage.ok());
  EXPECT_TRUE(damage->empty());

  const std::string bin = ReadTestFile(fs, "/d/t.bin");
  std::string changed = bin;
  changed[kHashBlockBytes] ^= 1;
  changed[3 * kHashBlockBytes - 1] ^= 1;
  changed[bin.size() - 1] ^= 1;
  WriteTestFile(fs, "/d/t.bin", changed);
  damage = VerifyBlocks(fs, "/d/t");
  ASSERT_TRUE(damage.ok());
  ASSERT_EQ(damage->size(), 2u);
  EXPECT_EQ((*damage)[0].file, "/d/t.bin");
  EXPECT_EQ((*damage)[0].from, kHashBlockBytes);
  EXPECT_EQ((*damage)[0].to, 3 * kHashBlockBytes);
  EXPECT_EQ((*damage)[1].from, 4 * kHashBlockBytes);
  EXPECT_EQ((*damage)[1].to, bin.size());

  WriteTestFile(fs, "/d/t.bin", bin.substr(0, kHashBlockBytes + 5));
  damage = VerifyBlocks(fs, "/d/t");
  ASSERT_TRUE(damage.ok());
  ASSERT_EQ(damage->size(), 1u);
  EXPECT_EQ((*damage)[0].from, kHashBlockBytes);
  EXPECT_EQ((*damage)[0].to, bin.size());

  WriteTestFile(fs, "/d/t.bin", bin);
  std::string idx = ReadTestFile(fs, "/d/t.idx");
  idx.back() ^= 1;
  WriteTestFile(fs, "/d/t.idx", idx);
  damage = VerifyBlocks(fs, "/d/t");
  ASSERT_TRUE(damage.ok());
  ASSERT_EQ(damage->size(), 1u);
  EXPECT_EQ((*damage)[0].file, "/d/t.idx");
}

TEST(BlockHashTest, NoFlippedBitOfTheSideFileGoesUnnoticed) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  const std::string blocks = ReadTestFile(fs, "/d/t.blocks");
  EXPECT_EQ(blocks.size(), 40u + 4 * 32);
  for (size_t bit = 0; bit < 8 * blocks.size(); ++bit) {
    std::string flipped = blocks;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(ParseBlockHashes(flipped, "x").ok()) << bit;
  }
  for (size_t size = 0; size < blocks.size(); ++size) {
    EXPECT_FALSE(ParseBlockHashes(blocks.substr(0, size), "x").ok()) << size;
  }
  EXPECT_TRUE(ParseBlockHashes(blocks, "x").ok());
}

TEST(BlockHashTest, ASideFileOfAnotherPairIsRefused) {
  MemoryFileSystem fs;
  WriteTestTokens(fs, "/d/t", 257, kDocuments);
  const std::string blocks = ReadTestFile(fs, "/d/t.blocks");
  WriteTestTokens(fs, "/d/t", 257, {{9, 2, 3}, {4}, {5, 6, 7, 8, 256}});
  WriteTestFile(fs, "/d/t.blocks", blocks);
  ExpectRefused(fs, "not the one that its block hashes were made of");
}

TEST(BlockHashTest, TheContentHashNeedsNoSideFile) {
  MemoryFileSystem fs;
  const auto summary = WriteTestTokens(fs, "/d/t", 257, kDocuments);
  ASSERT_TRUE(fs.Remove("/d/t.blocks").ok());
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->content_hash(), summary.content_hash);
  EXPECT_EQ(summary.content_hash.size(), 64u);
}

}  // namespace
}  // namespace lockstep
