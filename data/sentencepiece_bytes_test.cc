// What a tokenizer of `data train-tokenizer` promises of bytes and cuts.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentencepiece_golden.h"
#include "data/sentencepiece_library.h"
#include "data/sentencepiece_tokenizer.h"
#include "data/test_files.h"
#include "data/tokenizer.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

// Any bytes come back: no UTF-8, zero bytes, line ends of both kinds, runs of
// spaces, the character that stands for a space, surrogates, overlong forms.
TEST(SentencePieceBytesTest, AnyBytesComeBack) {
  const auto tokenizer = GoldenTokenizer();
  std::vector<std::string> texts = {
      "",
      std::string("a\0b\0", 4),
      "\xff\xfe z \x80",
      "\xE2\x96\x81 a\xE2\x96\x81"
      "b",
      "   leading   and trailing   ",
      "a\r\nb\r\n\r\nc\n\n\n",
      "\xED\xA0\x80 \xC0\xAF \xF4\x90\x80\x80 \xF0\x9F\x98",
      "caf\xC3\xA9 \xF0\x9F\x98\x80",
      std::string(70'000, 'y') + "\n" + std::string(70'001, ' '),
  };
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  texts.push_back(all);
  uint64_t state = 1;
  for (int i = 0; i < 300; ++i) {  // random bytes, half of them common ones
    std::string text;
    for (int k = 0; k < 40; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto draw = static_cast<uint8_t>(state >> 56);
      text += draw < 128 ? "\n e\xE2\x96\x81\xF0"[draw % 7]
                         : static_cast<char>(state >> 40);
    }
    texts.push_back(text);
  }
  for (const std::string& text : texts) {
    const std::vector<int32_t> ids = Ids(*tokenizer, text);
    EXPECT_EQ(tokenizer->Decode(ids), text);
    // By one id at a time too, as an evaluation counts bytes.
    std::string pieces;
    for (size_t i = 0; i < ids.size(); ++i) {
      pieces += tokenizer->DecodeAfter(i == 0 ? 1 : ids[i - 1], ids[i]);
    }
    EXPECT_EQ(pieces, text);
  }
}

// Where a document is cut for streaming must not show in its ids.
TEST(SentencePieceBytesTest, WhatIsEncodedEarlyIsEncodedTheSame) {
  const auto tokenizer = GoldenTokenizer();
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "line " + std::to_string(i) + (i % 5 == 0 ? "\n\n" : "\r\n");
  }
  const std::vector<int32_t> whole = Ids(*tokenizer, text);
  int64_t cut = 0;
  for (size_t step = 1; step < 50; ++step) {
    std::vector<int32_t> ids;
    std::string rest;
    for (size_t at = 0; at < text.size(); at += step) {
      rest += text.substr(at, step);
      const size_t now = tokenizer->EncodablePrefix(rest);
      tokenizer->Encode(std::string_view(rest).substr(0, now), ids);
      rest.erase(0, now);
      cut += now > 0 ? 1 : 0;
    }
    tokenizer->Encode(rest, ids);
    EXPECT_EQ(ids, whole) << step;
  }
  EXPECT_GT(cut, 500);
}

// What the library has to say stands in our errors, without its source lines,
// and stderr is the command's.
TEST(SentencePieceBytesTest, TheLibraryWritesNothingItself) {
  const std::string model = ReadTestFile(*PosixFileSystem(), kGoldenModel);
  testing::internal::CaptureStderr();
  int refused = 0;
  for (size_t at = 0; at < model.size(); at += 11) {
    std::string damaged = model;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto tokenizer = MakeSentencePieceTokenizer(damaged, "m.model");
    if (tokenizer.ok()) {
      Ids(**tokenizer, "some text \xff \xE2\x96\x81 123");
      continue;
    }
    ++refused;
    EXPECT_EQ(MessageOf(tokenizer.status()).find(".cc("), std::string::npos)
        << MessageOf(tokenizer.status());
  }
  EXPECT_GT(refused, 100);
  std::string error;
  for (const char* vocab : {"3", "258", "90000"}) {
    EXPECT_EQ(TrainPieces({{"vocab_size", vocab}, {"minloglevel", "3"}},
                          {"a text", "of lines"}, error),
              "");
    EXPECT_NE(error, "");
    EXPECT_EQ(error.find(".cc("), std::string::npos) << error;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace lockstep
