#include "data/dataset.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "data/data_fingerprint.h"
#include "data/test_files.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr uint64_t kSeed = 1234;

// `count` documents; token k of the file is k mod 251.
void WriteCorpus(FileSystem& fs, const std::vector<int64_t>& lengths) {
  std::vector<std::vector<int32_t>> documents;
  int64_t next = 0;
  for (const int64_t length : lengths) {
    std::vector<int32_t>& document = documents.emplace_back();
    for (int64_t i = 0; i < length; ++i) {
      document.push_back(static_cast<int32_t>(next++ % 251));
    }
  }
  WriteTestTokens(fs, "/d/t", 257, documents);
}

DataConfig Config(int64_t sequence, double validation_fraction) {
  DataConfig config;
  config.sequence = sequence;
  config.validation_fraction = validation_fraction;
  config.sources.resize(1);
  config.sources[0].path = "/d/t";
  return config;
}

std::unique_ptr<Dataset> MustOpen(FileSystem& fs, const DataConfig& config,
                                  uint64_t seed = kSeed) {
  auto dataset = Dataset::Open(fs, config, "/run", seed, 257);
  LS_CHECK(dataset.ok()) << MessageOf(dataset.status());
  return *std::move(dataset);
}

struct Sample {
  std::vector<int32_t> tokens;
  std::vector<uint8_t> mask;
};

Sample Train(const Dataset& dataset, uint64_t g) {
  Sample sample = {std::vector<int32_t>(dataset.sequence() + 1),
                   std::vector<uint8_t>(dataset.sequence())};
  const absl::Status status =
      dataset.TrainSample(g, {sample.tokens, sample.mask, {}});
  LS_CHECK(status.ok()) << MessageOf(status);
  return sample;
}

TEST(DatasetTest, ASampleIsTokensSTToSTPlusTInclusive) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {40, 23, 38});  // 101 tokens, 10 samples of 10, no tail
  const auto dataset = MustOpen(fs, Config(10, 0));
  ASSERT_EQ(dataset->source(0).train_samples(), 10);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<int64_t> seen;
    for (uint64_t g = 0; g < 10; ++g) {
      const auto at = dataset->Locate(10 * epoch + g);
      ASSERT_TRUE(at.ok());
      EXPECT_EQ(at->epoch, epoch);
      seen.insert(at->sample);
      const Sample sample = Train(*dataset, 10 * epoch + g);
      for (int64_t t = 0; t <= 10; ++t) {
        EXPECT_EQ(sample.tokens[t], (10 * at->sample + t) % 251);
      }
      EXPECT_EQ(sample.mask, std::vector<uint8_t>(10, 1));
    }
    EXPECT_EQ(seen.size(), 10u);
  }
}

TEST(DatasetTest, TheOrderDependsOnTheSeedAlone) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {1001});
  const auto a = MustOpen(fs, Config(10, 0));
  const auto b = MustOpen(fs, Config(10, 0));
  const auto c = MustOpen(fs, Config(10, 0), kSeed + 1);
  int64_t differ = 0;
  for (uint64_t g = 0; g < 100; ++g) {
    EXPECT_EQ(Train(*a, g).tokens, Train(*b, g).tokens);
    differ += Train(*a, g).tokens != Train(*c, g).tokens;
  }
  EXPECT_GT(differ, 80);
}

TEST(DatasetTest, ADroppedTailIsSaid) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {108});
  std::string said;
  const auto dataset =
      Dataset::Open(fs, Config(10, 0), "/run", kSeed, 257,
                    [&](const std::string& line) { said += line + "\n"; });
  ASSERT_TRUE(dataset.ok());
  EXPECT_NE(said.find("the last 7 tokens fill no sample and are dropped"),
            std::string::npos)
      << said;
}

TEST(DatasetTest, LocateNamesDocumentsAndOffset) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {15, 10, 76});
  const auto dataset = MustOpen(fs, Config(10, 0));
  int64_t found = 0;
  for (uint64_t g = 0; g < 10; ++g) {
    const auto at = dataset->Locate(g);
    ASSERT_TRUE(at.ok());
    if (at->sample == 1) {  // tokens 10 .. 20: of documents 0 and 1
      EXPECT_EQ(at->first_document, 0);
      EXPECT_EQ(at->document_offset, 10);
      EXPECT_EQ(at->last_document, 1);
      ++found;
    }
    if (at->sample == 2) {  // tokens 20 .. 30
      EXPECT_EQ(at->first_document, 1);
      EXPECT_EQ(at->document_offset, 5);
      EXPECT_EQ(at->last_document, 2);
      ++found;
    }
  }
  EXPECT_EQ(found, 2);
}

TEST(DatasetTest, HeldOutDocumentsAreDisjointAndWholeAndCovered) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {40, 60, 50, 17, 23});
  const auto dataset = MustOpen(fs, Config(10, 0.1));  // 19 of 190
  EXPECT_EQ(dataset->source(0).split().train_documents, 4);
  EXPECT_EQ(dataset->source(0).split().train_tokens, 167);
  EXPECT_EQ(dataset->source(0).split().validation_tokens, 23);
  EXPECT_EQ(dataset->source(0).train_samples(), 16);
  EXPECT_EQ(dataset->validation_samples(), 3);
  for (uint64_t g = 0; g < 16; ++g) {
    const auto at = dataset->Locate(g);
    ASSERT_TRUE(at.ok());
    EXPECT_LE(at->first_token + 10, 166);
  }
  // Every held-out token but the first is a label exactly once.
  std::vector<int> labelled(23, 0);
  for (int64_t i = 0; i < 3; ++i) {
    std::vector<int32_t> tokens(11, -1);
    std::vector<uint8_t> mask(10, 9);
    ASSERT_TRUE(dataset->ValidationSample(0, i, {tokens, mask, {}}).ok());
    for (int64_t t = 0; t < 10; ++t) {
      ASSERT_LE(mask[t], 1);
      if (mask[t] == 1) {
        ++labelled[10 * i + t + 1];
        EXPECT_EQ(tokens[t + 1], (167 + 10 * i + t + 1) % 251);
      } else {
        EXPECT_EQ(tokens[t + 1], 0);
      }
    }
  }
  EXPECT_EQ(labelled[0], 0);
  for (size_t k = 1; k < labelled.size(); ++k) {
    EXPECT_EQ(labelled[k], 1) << k;
  }
}

TEST(SplitTest, TakesTheFewestLastDocumentsThatReachTheShare) {
  MemoryFileSystem fs;
  const std::vector<int64_t> lengths = {10, 20, 5, 25, 15, 25};
  WriteCorpus(fs, lengths);
  const auto file = TokenFile::Open(fs, "/d/t");
  ASSERT_TRUE(file.ok());
  int64_t checked = 0;
  for (int percent = 1; percent < 100; ++percent) {
    const auto split = SplitDocuments(**file, percent / 100.0);
    ASSERT_TRUE(split.ok());
    // By hand: from the end, never all.
    int64_t documents = 0;
    int64_t tokens = 0;
    const int64_t wanted =
        std::max<int64_t>(1, static_cast<int64_t>(percent / 100.0 * 100));
    while (tokens < wanted && documents < 5) {
      tokens += lengths[5 - documents++];
    }
    EXPECT_EQ(split->validation_documents, documents) << percent;
    EXPECT_EQ(split->validation_tokens, tokens) << percent;
    EXPECT_EQ(split->train_documents, 6 - documents);
    EXPECT_EQ(split->train_tokens, 100 - tokens);
    EXPECT_GT(split->train_tokens, 0);
    ++checked;
  }
  EXPECT_EQ(checked, 99);
}

TEST(SplitTest, OneDocumentCannotBeSplit) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {100});
  const auto dataset = Dataset::Open(fs, Config(10, 0.1), "/run", kSeed, 257);
  EXPECT_EQ(ExitCodeFor(dataset.status()), 2);
  EXPECT_NE(MessageOf(dataset.status()).find("document_bytes"),
            std::string::npos);
}

TEST(DatasetTest, DataThatCannotServeIsRefused) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {5, 5});
  const auto refused = [&](const DataConfig& config, int64_t vocab,
                           const std::string& text) {
    const auto dataset = Dataset::Open(fs, config, "/run", kSeed, vocab);
    EXPECT_EQ(ExitCodeFor(dataset.status()), 2) << text;
    EXPECT_NE(MessageOf(dataset.status()).find(text), std::string::npos)
        << MessageOf(dataset.status());
  };
  refused(Config(10, 0), 257, "hold 10 tokens, and one sample takes 11");
  DataConfig none = Config(4, 0);
  none.sources.clear();
  refused(none, 257, "no data source");
  DataConfig text = Config(4, 0);
  text.sources[0] = {.text = "/c"};
  refused(text, 256, "ids up to 256");
  refused(text, 257, "no such text file");
}

TEST(DatasetTest, RawTextIsPreparedIntoTheRun) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/c/a.txt", "first\n\nsecond\n\nthird");
  DataConfig config = Config(4, 0.1);
  config.sources[0] = {.text = "/c", .document_bytes = 1};
  const auto dataset = MustOpen(fs, config);
  EXPECT_EQ(dataset->source(0).file().document_count(), 3);
  EXPECT_TRUE(
      dataset->source(0).file().prefix().starts_with("/run/data/text-"));
  EXPECT_EQ(dataset->source(0).split().validation_tokens,
            6);  // "third" and its end
  const auto identities = dataset->Identities();
  ASSERT_EQ(identities.size(), 2u);
  EXPECT_EQ(identities[0].sha256.size(), 64u);
  // The other ranks open what the first one prepared.
  const auto prepared = PrepareSources(fs, config, "/run");
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(prepared->sources[0].path, dataset->source(0).file().prefix());
  EXPECT_EQ(Train(*MustOpen(fs, *prepared), 1).tokens,
            Train(*dataset, 1).tokens);
}

// N11: any sharding of a step's samples, in any order, adds up to one value.
TEST(DataFingerprintTest, N11AddsUpOverAnySharding) {
  MemoryFileSystem fs;
  WriteCorpus(fs, {1001});
  const auto dataset = MustOpen(fs, Config(10, 0));
  constexpr uint64_t kFirst = 37;
  constexpr uint64_t kSamples = 16;
  std::set<std::string> values;
  for (const uint64_t ranks : {1, 2, 3, 5, 16}) {
    DataFingerprint sum;
    for (uint64_t rank = ranks; rank-- > 0;) {
      DataFingerprint part;
      for (uint64_t g = kFirst + rank; g < kFirst + kSamples; g += ranks) {
        const Sample sample = Train(*dataset, g);
        part += FingerprintSample(g, sample.tokens, sample.mask);
      }
      sum += part;
    }
    EXPECT_EQ(sum.samples, 16);
    values.insert(StepDataFingerprint(sum, 10));
  }
  EXPECT_EQ(values.size(), 1u);
  EXPECT_EQ(values.begin()->size(), 32u);
}

TEST(DataFingerprintTest, N11SeesIdsMasksPositionsAndSamples) {
  const std::vector<int32_t> tokens = {1, 2, 3, 4};
  const std::vector<uint8_t> mask = {1, 1, 1};
  std::set<std::string> values;
  const auto add = [&](uint64_t g, const std::vector<int32_t>& ids,
                       const std::vector<uint8_t>& valid) {
    values.insert(StepDataFingerprint(FingerprintSample(g, ids, valid), 3));
  };
  add(5, tokens, mask);
  add(6, tokens, mask);  // another sample
  add(uint64_t{1} << 40, tokens, mask);
  add(5, {1, 2, 3, 5}, mask);  // an id
  add(5, {2, 1, 3, 4}, mask);  // a swap
  add(5, tokens, {1, 1, 0});   // a mask
  add(5, tokens, {0, 1, 1});
  EXPECT_EQ(values.size(), 7u);
  add(5, tokens, mask);
  EXPECT_EQ(values.size(), 7u);
}

}  // namespace
}  // namespace lockstep
