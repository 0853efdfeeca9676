// Where prepared tokens go: bytes without ids between, and folders.
#include <cstdlib>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "data/test_files.h"
#include "data/token_decode.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "data/train_tokenizer.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string AllBytes(size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    text += static_cast<char>(i * i / 7 + i);
  }
  return text;
}

TEST(PrepareOutputTest, AWidenedByteIsItsId) {
  const std::string text = AllBytes(4000);
  int64_t compared = 0;
  for (size_t length = 0; length < 200; ++length) {
    const std::string_view part = std::string_view(text).substr(length, length);
    std::vector<int32_t> ids;
    for (const char byte : part) ids.push_back(static_cast<uint8_t>(byte));
    std::string wide(2 * length + 1, 'x'), encoded = wide;
    WidenBytes(part, wide.data());
    EncodeTokens(TokenType::kU16, ids, 257, encoded.data());
    EXPECT_EQ(wide, encoded) << length;
    EXPECT_EQ(wide.back(), 'x');
    compared += static_cast<int64_t>(length);
  }
  EXPECT_EQ(compared, 19'900);
}

// Across blocks and sequences, in parts of odd lengths.
TEST(PrepareOutputTest, BytesAreWrittenAsTheirIds) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/d").ok());
  const std::string text = AllBytes(3 * kHashBlockBytes / 2 + 77);
  for (const bool as_ids : {false, true}) {
    const std::string prefix = as_ids ? "/d/ids" : "/d/bytes";
    const auto writer = TokenFileWriter::Create(fs, prefix, 257, 100'000);
    ASSERT_TRUE(writer.ok());
    for (size_t at = 0, part = 1; at < text.size(); at += part, part += 997) {
      const std::string some = text.substr(at, part);
      std::vector<int32_t> ids;
      for (const char byte : some) ids.push_back(static_cast<uint8_t>(byte));
      ASSERT_TRUE(
          (as_ids ? (*writer)->Append(ids) : (*writer)->AppendBytes(some))
              .ok());
      if (part % 3 == 0) {
        ASSERT_TRUE((*writer)->EndDocument().ok());
      }
    }
    ASSERT_TRUE((*writer)->Append(std::vector<int32_t>{256}).ok());
    ASSERT_TRUE((*writer)->EndDocument().ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  for (const std::string end : {".bin", ".idx", ".blocks"}) {
    EXPECT_EQ(ReadTestFile(fs, "/d/bytes" + end),
              ReadTestFile(fs, "/d/ids" + end));
  }
  EXPECT_GT(ReadTestFile(fs, "/d/bytes.bin").size(), 3 * kHashBlockBytes);
}

// Encodes a document as one token, its length: only whole documents will do.
class WholeTokenizer : public Tokenizer {
 public:
  int64_t vocab_size() const override { return 1 << 30; }
  int32_t end_of_document() const override { return 0; }
  void Encode(std::string_view text, std::vector<int32_t>& out) const override {
    out.push_back(static_cast<int32_t>(text.size()));
  }
  std::string Decode(std::span<const int32_t>) const override { return ""; }
  size_t EncodablePrefix(std::string_view) const override { return 0; }
  std::string identity() const override { return name(); }
  const char* name() const override { return "whole"; }
};

TEST(PrepareTest, ATokenizerThatNeedsWholeDocumentsGetsThem) {
  MemoryFileSystem fs;
  const size_t size = (size_t{2} << 20) + 5;
  WriteTestFile(fs, "/c/a.txt", std::string(size, 'x'));
  WriteTestFile(fs, "/c/b.txt", "abc");
  ASSERT_TRUE(fs.MakeDirs("/out").ok());
  const WholeTokenizer tokenizer;
  int64_t calls = 0;
  PrepareProgress last;
  const auto report = PrepareTokens(
      fs, {{"/c"}, "/out/t", &tokenizer, 0, [&](const PrepareProgress& now) {
             EXPECT_GE(now.bytes_done, last.bytes_done);
             last = now;
             ++calls;
           }});
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  const auto file = TokenFile::Open(fs, "/out/t");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->type(), TokenType::kI32);
  std::vector<int32_t> tokens(4);
  ASSERT_TRUE((*file)->Read(0, tokens).ok());
  EXPECT_EQ(tokens,
            (std::vector<int32_t>{static_cast<int32_t>(size), 0, 3, 0}));
  EXPECT_GE(calls, 3);
  EXPECT_EQ(last.bytes_done, last.bytes_total);
  EXPECT_EQ(last.documents, 2);
  EXPECT_EQ(last.tokens, 4);
}

void ExpectRefused(const absl::Status& status, const std::string& text) {
  EXPECT_EQ(ExitCodeFor(status), 2) << text;
  EXPECT_NE(MessageOf(status).find(text), std::string::npos)
      << "no '" << text << "' in: " << MessageOf(status);
}

// Refused before the inputs are looked at: those of this test do not exist.
TEST(PrepareOutputTest, AFolderThatDoesNotExistIsNotMade) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", "text");
  const auto byte = MakeTokenizer("byte");
  const auto prepare = [&](const std::string& output) {
    return PrepareTokens(fs, {.inputs = {"/none"},
                              .output_prefix = output,
                              .tokenizer = byte->get()})
        .status();
  };
  ExpectRefused(prepare("/typo/books/t"), "folder /typo/books");
  ExpectRefused(prepare("/typo/books/t"), "mkdir -p /typo/books");
  ExpectRefused(prepare("/c/a.txt/t"), "is a file");
  ExpectRefused(prepare("/c/"), "no name");
  ExpectRefused(prepare("/c/t"), "/none");
  TrainTokenizerOptions train;
  train.inputs = {"/none"};
  train.output = "/typo/m.model";
  train.vocab = 300;
  ExpectRefused(TrainTokenizer(fs, train).status(), "mkdir -p /typo");
  EXPECT_FALSE(fs.Exists("/typo"));
}

// A second call would read what the first one wrote, as text.
TEST(PrepareOutputTest, AnOutputInAFolderThatIsReadIsRefused) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", "text");
  WriteTestFile(fs, "/c/sub/b.txt", "text");
  ASSERT_TRUE(fs.MakeDirs("/cc").ok());
  const auto byte = MakeTokenizer("byte");
  const auto prepare = [&](const std::string& input,
                           const std::string& output) {
    return PrepareTokens(fs, {.inputs = {input},
                              .output_prefix = output,
                              .tokenizer = byte->get()})
        .status();
  };
  for (const char* output : {"/c/t", "/c/sub/t"}) {
    for (const char* input : {"/c", "/c/"}) {
      ExpectRefused(prepare(input, output), "in a folder that is read as text");
    }
    EXPECT_FALSE(fs.Exists(std::string(output) + ".bin.tmp"));
  }
  TrainTokenizerOptions train;
  train.inputs = {"/c"};
  train.output = "/c/m.model";
  train.vocab = 300;
  ExpectRefused(TrainTokenizer(fs, train).status(), "/c/m.model, in /c");
  // Beside a file, in a folder whose name begins alike, or above: as before.
  EXPECT_TRUE(prepare("/c/a.txt", "/c/t").ok());
  EXPECT_TRUE(prepare("/c/sub", "/c/u").ok());
  EXPECT_TRUE(prepare("/c", "/cc/t").ok());
}

TEST(PrepareOutputTest, AMissingModelSaysWhichKeyAndWhere) {
  MemoryFileSystem fs;
  ExpectRefused(MakeTokenizer(fs, "/d/none.model").status(),
                "no such tokenizer model\n  where: /d/none.model\n"
                "  do: check data.tokenizer");
}

}  // namespace
}  // namespace lockstep
