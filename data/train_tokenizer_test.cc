#include "data/train_tokenizer.h"

#include <string>

#include "data/test_files.h"
#include "data/tokenizer.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string Word(int number) {
  std::string word;
  for (; number > 0; number /= 11) word += "etaoinshrdl"[number % 11];
  return word;
}

std::string Words(int lines, int from = 0) {
  std::string text;
  for (int i = from; i < from + lines; ++i) {
    text += Word(i * 7919 % 61303) + " and " + Word(i * 104729 % 40903) +
            " of a long story\n";
  }
  return text;
}

TrainTokenizerOptions Options(const std::string& output, int64_t vocab) {
  TrainTokenizerOptions options;
  options.inputs = {"/c"};
  options.output = output;
  options.vocab = vocab;
  return options;
}

void ExpectRefused(const absl::Status& status, const std::string& text) {
  EXPECT_EQ(ExitCodeFor(status), 2) << text;
  EXPECT_NE(MessageOf(status).find(text), std::string::npos)
      << MessageOf(status);
}

TEST(TrainTokenizerTest, TheSameTextAndOptionsGiveTheSameModel) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", Words(2000));
  for (const char* type : {"bpe", "unigram"}) {
    for (const char* output : {"/1.model", "/2.model"}) {
      TrainTokenizerOptions options = Options(output, 400);
      options.type = type;
      const auto report = TrainTokenizer(fs, options);
      ASSERT_TRUE(report.ok()) << MessageOf(report.status());
      EXPECT_EQ(report->lines, 2000);
      EXPECT_EQ(report->sampled_lines, 2000);
      EXPECT_EQ(report->every, 1);
      EXPECT_EQ(report->text_bytes, report->sampled_bytes);
      const auto tokenizer = MakeTokenizer(fs, output);
      ASSERT_TRUE(tokenizer.ok()) << MessageOf(tokenizer.status());
      EXPECT_EQ((*tokenizer)->vocab_size(), 400);
      EXPECT_EQ((*tokenizer)->identity(), report->identity);
      const std::string text = Words(3, 99) + std::string("\xff\0 ", 3);
      std::vector<int32_t> ids;
      (*tokenizer)->Encode(text, ids);
      EXPECT_EQ((*tokenizer)->Decode(ids), text);
      EXPECT_LT(ids.size(), text.size() * 2 / 3);
      EXPECT_GT((*tokenizer)->EncodablePrefix(text), 0u);
    }
    EXPECT_EQ(ReadTestFile(fs, "/1.model"), ReadTestFile(fs, "/2.model"));
  }
}

TEST(TrainTokenizerTest, ALargeTextIsSampledEvenlyAndSaysSo) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", Words(3000));
  TrainTokenizerOptions options = Options("/m.model", 350);
  options.sample_bytes = 30'000;
  const auto report = TrainTokenizer(fs, options);
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  EXPECT_EQ(report->lines, 3000);
  EXPECT_GE(report->every, 2);
  EXPECT_EQ(report->sampled_lines, (3000 + report->every - 1) / report->every);
  EXPECT_LE(report->sampled_bytes, options.sample_bytes);
  EXPECT_GT(report->sampled_bytes, options.sample_bytes / 3);
}

TEST(TrainTokenizerTest, WhatCannotBeTrainedIsRefusedByName) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", Words(50));
  ExpectRefused(TrainTokenizer(fs, Options("/m.model", 100000)).status(),
                "too high");
  ExpectRefused(TrainTokenizer(fs, Options("/m.model", 258)).status(),
                "--vocab 258");
  ExpectRefused(TrainTokenizer(fs, Options("/m.model", 3)).status(),
                "from 258");
  ExpectRefused(TrainTokenizer(fs, Options("/m", 300)).status(), ".model");
  TrainTokenizerOptions other = Options("/m.model", 300);
  other.type = "wordpiece";
  ExpectRefused(TrainTokenizer(fs, other).status(), "wordpiece");
  EXPECT_FALSE(fs.Exists("/m.model"));
  WriteTestFile(fs, "/c/a.txt", std::string(10, '\xff'));
  ExpectRefused(TrainTokenizer(fs, Options("/m.model", 300)).status(), "");
}

}  // namespace
}  // namespace lockstep
