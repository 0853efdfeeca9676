// Document boundaries within samples (N14), against documents counted by hand.
#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/test_files.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

// Every token of document i is i.
std::unique_ptr<Dataset> Open(FileSystem& fs,
                              const std::vector<int64_t>& lengths,
                              int64_t sequence, bool reset,
                              double validation_fraction) {
  std::vector<std::vector<int32_t>> documents;
  for (const int64_t length : lengths) {
    const auto i = static_cast<int32_t>(documents.size());
    documents.emplace_back(static_cast<size_t>(length), i);
  }
  WriteTestTokens(fs, "/d/t", 257, documents);
  DataConfig config;
  config.sequence = sequence;
  config.reset_at_documents = reset;
  config.validation_fraction = validation_fraction;
  config.sources = {{.path = "/d/t"}};
  auto dataset = Dataset::Open(fs, config, "/run", 1, 257);
  LS_CHECK(dataset.ok()) << MessageOf(dataset.status());
  return *std::move(dataset);
}

// Checks one sample whose first `count` tokens are documents' own. Returns the
// labels that a boundary masked.
int64_t ExpectDocuments(const std::vector<int32_t>& tokens,
                        const std::vector<uint8_t>& mask,
                        const std::vector<int32_t>& segments, int64_t count) {
  int32_t begun = 0;
  int64_t masked = 0;
  for (int64_t t = 0; t < static_cast<int64_t>(segments.size()); ++t) {
    const bool begins = t > 0 && t < count && tokens[t] != tokens[t - 1];
    begun += begins ? 1 : 0;
    EXPECT_EQ(segments[t], begun) << t;
    const bool crosses = t + 1 < count && tokens[t + 1] != tokens[t];
    EXPECT_EQ(mask[t], t + 1 < count && !crosses ? 1 : 0) << t;
    masked += crosses ? 1 : 0;
  }
  return masked;
}

// 97 documents of 1, 2, 7, 16, 33 and 64 tokens in turn, at lengths where a
// document ends a sample, fills one, and lies between two others.
TEST(DocumentsTest, N14SegmentsAndMasksFollowTheDocuments) {
  std::vector<int64_t> lengths;
  for (int i = 0; i < 97; ++i) {
    lengths.push_back(std::vector<int64_t>{1, 2, 7, 16, 33, 64}[i % 6]);
  }
  for (const int64_t sequence : {1, 2, 7, 16, 32, 64, 100}) {
    MemoryFileSystem fs;
    const auto dataset = Open(fs, lengths, sequence, true, 0.2);
    std::vector<int32_t> tokens(sequence + 1), segments(sequence);
    std::vector<uint8_t> mask(sequence);
    const SampleRows rows = {tokens, mask, segments};
    int64_t masked = 0;
    const int64_t train = dataset->source(0).train_samples();
    for (int64_t s = 0; s < train; ++s) {
      ASSERT_TRUE(dataset->source(0).TrainSample(s, rows).ok());
      masked += ExpectDocuments(tokens, mask, segments, sequence + 1);
      // Asking for no segments masks the same labels.
      std::vector<uint8_t> alone(sequence);
      ASSERT_TRUE(dataset->source(0).TrainSample(s, {tokens, alone, {}}).ok());
      EXPECT_EQ(alone, mask);
    }
    const DocumentSplit& split = dataset->source(0).split();
    for (int64_t i = 0; i < dataset->validation_samples(); ++i) {
      ASSERT_TRUE(dataset->ValidationSample(0, i, rows).ok());
      masked += ExpectDocuments(
          tokens, mask, segments,
          std::min(sequence + 1, split.validation_tokens - i * sequence));
    }
    // 96 boundaries, less the one between the splits and those in a tail that
    // is dropped.
    EXPECT_GE(masked, 86) << sequence;
    EXPECT_LE(masked, 95) << sequence;
  }
}

TEST(DocumentsTest, WithoutResetNothingIsMasked) {
  MemoryFileSystem fs;
  const auto dataset = Open(fs, {3, 3, 3, 3, 3, 3}, 5, false, 0);
  std::vector<int32_t> tokens(6), segments(5, 9);
  std::vector<uint8_t> mask(5);
  for (uint64_t g = 0; g < 3; ++g) {
    ASSERT_TRUE(dataset->TrainSample(g, {tokens, mask, segments}).ok());
    EXPECT_EQ(mask, std::vector<uint8_t>(5, 1));
    EXPECT_EQ(segments, std::vector<int32_t>(5, 0));
  }
}

}  // namespace
}  // namespace lockstep
