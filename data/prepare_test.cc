#include "data/prepare.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "data/text_cache.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

absl::StatusOr<PrepareReport> Prepare(FileSystem& fs,
                                      const std::vector<std::string>& inputs,
                                      int64_t document_bytes = 0) {
  LS_CHECK(fs.MakeDirs("/out").ok());
  const auto tokenizer = MakeTokenizer("byte");
  PrepareOptions options;
  options.inputs = inputs;
  options.output_prefix = "/out/t";
  options.tokenizer = tokenizer->get();
  options.document_bytes = document_bytes;
  return PrepareTokens(fs, options);
}

TEST(TokenizerTest, BytesAreTheirOwnIds) {
  const auto tokenizer = MakeTokenizer("byte");
  ASSERT_TRUE(tokenizer.ok());
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all.push_back(static_cast<char>(byte));
  }
  std::vector<int32_t> ids;
  (*tokenizer)->Encode(all, ids);
  ASSERT_EQ(ids.size(), 256u);
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(ids[byte], byte);
  }
  EXPECT_EQ((*tokenizer)->Decode(ids), all);
  EXPECT_EQ((*tokenizer)->vocab_size(), 257);
  EXPECT_EQ((*tokenizer)->end_of_document(), 256);
  EXPECT_EQ((*tokenizer)->Decode(std::vector<int32_t>{65, 256, 66, 300, -1}),
            "AB\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ((*tokenizer)->identity().size(), 64u);
  EXPECT_EQ(ExitCodeFor(MakeTokenizer("bite").status()), 2);
}

// A file that grows after it was listed; nothing may be left of the attempt.
TEST(PrepareTest, AFileThatChangesMeanwhileIsRefused) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", std::string(size_t{3} << 20, 'x'));
  WriteTestFile(fs, "/c/b.txt", "b");
  ASSERT_TRUE(fs.MakeDirs("/out").ok());
  const auto tokenizer = MakeTokenizer("byte");
  const auto report = PrepareTokens(
      fs, {{"/c"}, "/out/t", tokenizer->get(), 0, [&](const PrepareProgress&) {
             WriteTestFile(fs, "/c/b.txt", "longer");
           }});
  EXPECT_EQ(ExitCodeFor(report.status()), 2);
  EXPECT_NE(MessageOf(report.status()).find("/c/b.txt"), std::string::npos);
  EXPECT_EQ(fs.List("/out").value().size(), 0u);
}

void ExpectSameBytes(const std::string& ours, const std::string& theirs,
                     const std::string& name) {
  ASSERT_EQ(ours.size(), theirs.size()) << name;
  size_t differ = 0;
  size_t first = 0;
  for (size_t i = ours.size(); i-- > 0;) {
    if (ours[i] != theirs[i]) {
      ++differ;
      first = i;
    }
  }
  EXPECT_EQ(differ, 0u) << name << ": first at byte " << first;
}

// Written by megatron-core from the same corpus; see tests/oracle.
TEST(PrepareTest, EqualsMegatronByteForByte) {
  FileSystem& fs = *PosixFileSystem();
  const std::string golden = "tests/oracle/golden/";
  const std::string out = std::string(std::getenv("TEST_TMPDIR")) + "/ours";
  const auto tokenizer = MakeTokenizer("byte");
  const auto report =
      PrepareTokens(fs, {{golden + "corpus"}, out, tokenizer->get(), 0, {}});
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  EXPECT_EQ(report->documents, 9);
  for (const char* suffix : {".bin", ".idx"}) {
    ExpectSameBytes(ReadTestFile(fs, out + suffix),
                    ReadTestFile(fs, golden + "megatron_small" + suffix),
                    suffix);
  }
}

// Its other types, and documents without any sequence, through our reader.
TEST(PrepareTest, MegatronsOtherFilesAreRead) {
  FileSystem& fs = *PosixFileSystem();
  const std::string golden = "tests/oracle/golden/megatron_small";
  const auto open = [&](const std::string& suffix, int64_t vocab) {
    auto file = TokenFile::Open(fs, golden + suffix, vocab);
    LS_CHECK(file.ok()) << MessageOf(file.status());
    return *std::move(file);
  };
  const auto read = [](const TokenFile& file, int64_t first, int64_t end) {
    std::vector<int32_t> tokens(end - first);
    LS_CHECK(file.Read(first, tokens).ok());
    return tokens;
  };
  const auto small = open("", 257);
  int64_t compared = 0;
  for (const char* suffix : {"_int32", "_uint8", "_skip"}) {
    const bool has_end = std::string(suffix) != "_uint8";
    const auto other = open(suffix, has_end ? 257 : 256);
    ASSERT_EQ(other->document_count(), small->document_count()) << suffix;
    for (int64_t d = 0; d < small->document_count(); ++d) {
      const int64_t first = other->DocumentStart(d).value();
      std::vector<int32_t> theirs =
          read(*other, first, other->DocumentStart(d + 1).value());
      if (!has_end || theirs.empty()) {
        theirs.push_back(256);
      }
      EXPECT_EQ(theirs, read(*small, small->DocumentStart(d).value(),
                             small->DocumentStart(d + 1).value()))
          << suffix << ", document " << d;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 27);
}

TEST(PrepareTest, DocumentsEndWithTheirId) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", "ab\n\nc");
  WriteTestFile(fs, "/c/b.txt", "d");
  const auto report = Prepare(fs, {"/c"}, 1);
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  EXPECT_EQ(report->documents, 3);
  EXPECT_EQ(report->tokens, 9);
  EXPECT_EQ(report->text_bytes, 6u);
  const auto file = TokenFile::Open(fs, "/out/t", 257);
  ASSERT_TRUE(file.ok());
  std::vector<int32_t> tokens(9);
  ASSERT_TRUE((*file)->Read(0, tokens).ok());
  EXPECT_EQ(tokens, (std::vector<int32_t>{'a', 'b', '\n', '\n', 256, 'c', 256,
                                          'd', 256}));
  EXPECT_EQ((*file)->DocumentStart(1).value(), 5);
  EXPECT_EQ((*file)->DocumentStart(2).value(), 7);
  EXPECT_EQ((*file)->content_hash(), report->content_hash);
}

struct Cache {
  MemoryFileSystem fs;
  std::vector<std::string> notices;

  std::string Prefix(int64_t document_bytes = 0) {
    notices.clear();
    const auto tokenizer = MakeTokenizer("byte");
    const auto prefix = PreparedPrefix(
        fs, {"/c", "/run/data", tokenizer->get(), document_bytes},
        [&](const std::string& line) { notices.push_back(line); });
    LS_CHECK(prefix.ok()) << MessageOf(prefix.status());
    return *prefix;
  }
  bool Said(const std::string& text) const {
    for (const std::string& line : notices) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }
};

TEST(TextCacheTest, TheSecondTimeIsAHit) {
  Cache cache;
  WriteTestFile(cache.fs, "/c/a.txt", "hello");
  const std::string prefix = cache.Prefix();
  EXPECT_TRUE(cache.Said("(miss)"));
  EXPECT_EQ(cache.Prefix(), prefix);
  EXPECT_TRUE(cache.Said("(hit)"));
  EXPECT_FALSE(cache.Said("(miss)"));
}

TEST(TextCacheTest, AChangedFileOfTheSameNameAndSizeIsPreparedAnew) {
  Cache cache;
  WriteTestFile(cache.fs, "/c/a.txt", "hello");
  const std::string before = cache.Prefix();
  WriteTestFile(cache.fs, "/c/a.txt", "jello");
  const std::string after = cache.Prefix();
  EXPECT_TRUE(cache.Said("(miss)"));
  EXPECT_NE(before, after);
  EXPECT_EQ(ReadTestFile(cache.fs, after + ".bin")[0], 'j');
}

TEST(TextCacheTest, WhatDecidesTheTokensDecidesTheKey) {
  Cache cache;
  WriteTestFile(cache.fs, "/c/a.txt", "ab\n\ncd");
  std::vector<std::string> prefixes = {cache.Prefix(0), cache.Prefix(1)};
  // The same bytes over another cut into files.
  WriteTestFile(cache.fs, "/c/a.txt", "ab");
  WriteTestFile(cache.fs, "/c/b.txt", "\n\ncd");
  prefixes.push_back(cache.Prefix(0));
  // A name decides nothing but the order.
  ASSERT_TRUE(cache.fs.Rename("/c/b.txt", "/c/c.txt").ok());
  EXPECT_EQ(cache.Prefix(0), prefixes[2]);
  EXPECT_NE(prefixes[0], prefixes[1]);
  EXPECT_NE(prefixes[0], prefixes[2]);
}

TEST(TextCacheTest, TextThatChangesMeanwhileGetsNoKey) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", "hello");
  const auto tokenizer = MakeTokenizer("byte");
  const auto prefix = PreparedPrefix(
      fs, {"/c", "/run/data", tokenizer->get(), 0}, [&](const std::string&) {
        WriteTestFile(fs, "/c/a.txt", "jello");  // after the key is made
      });
  EXPECT_EQ(ExitCodeFor(prefix.status()), 2);
  const auto names = fs.List("/run/data");
  ASSERT_TRUE(names.ok());
  EXPECT_FALSE(names->empty());
  for (const std::string& name : *names) {
    EXPECT_FALSE(name.ends_with(".idx")) << name;
  }
}

TEST(TextCacheTest, ADamagedEntryIsMadeAgain) {
  Cache cache;
  WriteTestFile(cache.fs, "/c/a.txt", "hello");
  const std::string prefix = cache.Prefix();
  for (const char* suffix : {".bin", ".idx", ".blocks"}) {
    const std::string good = ReadTestFile(cache.fs, prefix + suffix);
    std::string bad = good;
    bad[bad.size() / 2] ^= 4;
    WriteTestFile(cache.fs, prefix + suffix, bad);
    EXPECT_EQ(cache.Prefix(), prefix);
    EXPECT_TRUE(cache.Said("is damaged")) << suffix;
    EXPECT_EQ(ReadTestFile(cache.fs, prefix + suffix), good);
  }
}

TEST(TextCacheTest, HowAFileIsReadDecidesTheKeyOfTheCache) {
  MemoryFileSystem fs;
  const auto tokenizer = MakeTokenizer("byte");
  const std::string lines = "{\"text\":\"ab\",\"body\":\"c\"}\n";
  WriteTestFile(fs, "/a.txt", lines);
  WriteTestFile(fs, "/a.jsonl", lines);
  std::vector<std::string> prefixes;
  for (const auto& [input, field] :
       {std::pair("/a.txt", ""), std::pair("/a.jsonl", ""),
        std::pair("/a.jsonl", "text"), std::pair("/a.jsonl", "body")}) {
    const auto prefix = PreparedPrefix(
        fs, {input, "/run/data", tokenizer->get(), 0, field}, nullptr);
    ASSERT_TRUE(prefix.ok()) << MessageOf(prefix.status());
    prefixes.push_back(*prefix);
  }
  EXPECT_NE(prefixes[0], prefixes[1]);
  EXPECT_EQ(prefixes[1], prefixes[2]);
  EXPECT_NE(prefixes[1], prefixes[3]);
}

}  // namespace
}  // namespace lockstep
