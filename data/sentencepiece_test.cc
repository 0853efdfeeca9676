// The golden model and Python's ids for it:
// tests/oracle/check_sentencepiece.py.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/kept_tokenizer.h"
#include "data/prepare.h"
#include "data/sentencepiece_facts.h"
#include "data/sentencepiece_golden.h"
#include "data/sentencepiece_library.h"
#include "data/test_files.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "determinism/memory_file_system.h"
#include "determinism/sha256.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string ModelBytes() {
  return ReadTestFile(*PosixFileSystem(), kGoldenModel);
}

TEST(SentencePieceTest, IdsAreThoseOfPythonsLibrary) {
  const auto tokenizer = GoldenTokenizer();
  const auto golden = nlohmann::json::parse(ReadTestFile(
      *PosixFileSystem(), "tests/oracle/golden/sentencepiece_ids.json"));
  size_t ids = 0;
  for (const auto& one : golden["cases"]) {
    const std::string text = one["text"];
    EXPECT_EQ(Ids(*tokenizer, text), one["ids"].get<std::vector<int32_t>>())
        << text;
    ids += one["ids"].size();
  }
  EXPECT_GE(golden["cases"].size(), 10u);
  EXPECT_GT(ids, 300u);
}

TEST(SentencePieceTest, AModelSaysItsSizeItsEndAndItsIdentity) {
  const auto tokenizer = GoldenTokenizer();
  EXPECT_EQ(tokenizer->vocab_size(), 512);
  EXPECT_EQ(tokenizer->end_of_document(), 1);
  EXPECT_EQ(tokenizer->unknown(), 0);
  EXPECT_EQ(tokenizer->identity(), Sha256Hex(ModelBytes()));
  EXPECT_STREQ(tokenizer->name(), "sentencepiece");
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{1}), "");
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{512, -1}),
            "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(SentencePieceTest, PreparedTextDecodesToItself) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/m.model", ModelBytes());
  const auto tokenizer = MakeTokenizer(fs, "/m.model");
  ASSERT_TRUE(tokenizer.ok()) << MessageOf(tokenizer.status());
  std::string text;
  while (text.size() < (2u << 20)) {  // several pieces of the stream
    text += "some text, line " + std::to_string(text.size()) + "\n";
  }
  WriteTestFile(fs, "/c/a.txt", text);
  WriteTestFile(fs, "/c/b.txt", "");
  ASSERT_TRUE(fs.MakeDirs("/out").ok());
  const auto report = PrepareTokens(fs, {{"/c"}, "/out/t", tokenizer->get()});
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  EXPECT_EQ(report->documents, 2);
  EXPECT_EQ(report->unknown, 0);
  const auto file = TokenFile::Open(fs, "/out/t", 512);
  ASSERT_TRUE(file.ok());
  std::vector<int32_t> tokens(static_cast<size_t>((*file)->token_count()));
  ASSERT_TRUE((*file)->Read(0, tokens).ok());
  EXPECT_EQ((*tokenizer)->Decode(tokens), text);
  EXPECT_EQ(tokens.back(), 1);
  EXPECT_LT(tokens.size(), text.size());
}

void ExpectRefused(const std::string& bytes, const std::string& text) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/m.model", bytes);
  const absl::Status status = MakeTokenizer(fs, "/m.model").status();
  EXPECT_EQ(ExitCodeFor(status), 2) << text;
  EXPECT_NE(MessageOf(status).find(text), std::string::npos)
      << MessageOf(status);
  EXPECT_NE(MessageOf(status).find("/m.model"), std::string::npos);
}

TEST(SentencePieceTest, WhatIsNoWholeModelIsRefused) {
  const std::string model = ModelBytes();
  ExpectRefused("", "empty");
  ExpectRefused("no model at all, just text\n", "not a SentencePiece model");
  ExpectRefused(std::string(1000, '\0'), "not a SentencePiece model");
  for (size_t size = 1; size < model.size(); size += 7) {
    ExpectRefused(model.substr(0, size), "SentencePiece model");
  }
  MemoryFileSystem fs;
  for (const char* name : {"/none.model", "bite", ""}) {
    EXPECT_EQ(ExitCodeFor(MakeTokenizer(fs, name).status()), 2) << name;
  }
}

// Byte fallback, no normalisation, a dummy prefix: what others' models have.
TEST(SentencePieceTest, ADummyPrefixIsNoTextAtADocumentsStart) {
  std::string error;
  const std::vector<std::string> lines(20, "the cat sat on the mat");
  const std::string model =
      TrainPieces({{"vocab_size", "280"},
                   {"model_type", "bpe"},
                   {"byte_fallback", "true"},
                   {"normalization_rule_name", "identity"},
                   {"minloglevel", "2"}},
                  lines, error);
  ASSERT_FALSE(model.empty()) << error;
  MemoryFileSystem fs;
  WriteTestFile(fs, "/m.model", model);
  const auto tokenizer = MakeTokenizer(fs, "/m.model");
  ASSERT_TRUE(tokenizer.ok()) << MessageOf(tokenizer.status());
  EXPECT_TRUE(ReadSentencePieceFacts(model, "m")->add_dummy_prefix);
  const std::vector<int32_t> ids = Ids(**tokenizer, "the cat");
  const int32_t end = (*tokenizer)->end_of_document();
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    text += (*tokenizer)->DecodeAfter(i == 0 ? end : ids[i - 1], ids[i]);
  }
  EXPECT_EQ(text, "the cat");
  EXPECT_EQ((*tokenizer)->Decode(ids), " the cat");  // as it follows others
  EXPECT_EQ((*tokenizer)->EncodablePrefix("a\nb\nc"), 0u);
}

TEST(SentencePieceTest, ARunKeepsACopyOfItsModel) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/m.model", ModelBytes());
  const auto tokenizer = MakeTokenizer(fs, "/m.model");
  ASSERT_TRUE(tokenizer.ok());
  ASSERT_TRUE(KeepTokenizer(fs, "/m.model", **tokenizer, "/run").ok());
  const std::string copy =
      "/run/" + KeptTokenizerName((*tokenizer)->identity());
  EXPECT_EQ(ReadTestFile(fs, copy), ModelBytes());
  ASSERT_TRUE(fs.Remove("/m.model").ok());
  EXPECT_TRUE(KeepTokenizer(fs, "/m.model", **tokenizer, "/run").ok());
  ASSERT_TRUE(fs.Remove(copy).ok());
  WriteTestFile(fs, "/m.model", "other");
  EXPECT_EQ(ExitCodeFor(KeepTokenizer(fs, "/m.model", **tokenizer, "/run")), 2);
  EXPECT_FALSE(fs.Exists(copy));
}

}  // namespace
}  // namespace lockstep
