// Datasets over several sources; every token says which source it is of.
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "data/dataset.h"
#include "data/test_files.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr uint64_t kSeed = 99;
constexpr int64_t kSequence = 4;
constexpr int64_t kVocab = 4000;

// Sources A, B, C of 10, 20 and 3 samples and one document held out each; the
// tokens of source s are 1000 s + position.
DataConfig WriteSources(FileSystem& fs, const std::vector<double>& weights) {
  DataConfig config;
  config.sequence = kSequence;
  config.validation_fraction = 0.01;
  const int64_t samples[] = {10, 20, 3};
  for (size_t s = 0; s < weights.size(); ++s) {
    std::vector<std::vector<int32_t>> documents(2);
    for (int64_t k = 0; k < samples[s] * kSequence + 1; ++k) {
      documents[0].push_back(static_cast<int32_t>(1000 * s + k));
    }
    for (int32_t k = 0; k < 7; ++k) {
      documents[1].push_back(static_cast<int32_t>(1000 * s) + 900 + k);
    }
    const std::string prefix = "/d/" + std::string(1, "abc"[s]);
    WriteTestTokens(fs, prefix, kVocab, documents);
    config.sources.push_back({.path = prefix, .weight = weights[s]});
  }
  return config;
}

std::unique_ptr<Dataset> MustOpen(FileSystem& fs, const DataConfig& config,
                                  const DataNotice& notice = nullptr) {
  auto dataset = Dataset::Open(fs, config, "/run", kSeed, kVocab, notice);
  LS_CHECK(dataset.ok()) << MessageOf(dataset.status());
  return *std::move(dataset);
}

std::vector<int32_t> Train(const Dataset& dataset, uint64_t g) {
  std::vector<int32_t> tokens(kSequence + 1);
  std::vector<uint8_t> mask(kSequence);
  const absl::Status status = dataset.TrainSample(g, {tokens, mask, {}});
  LS_CHECK(status.ok()) << MessageOf(status);
  return tokens;
}

// NVIDIA/Megatron-LM#705: an index beyond a source's end, deep in training.
TEST(BlendDatasetTest, EachSourceKeepsItsOwnEpochsAndOrder) {
  MemoryFileSystem fs;
  const auto blend = MustOpen(fs, WriteSources(fs, {0.49, 0.49, 0.02}));
  std::vector<std::vector<int32_t>> seen(3);  // first tokens, in order
  for (uint64_t g = 0; g < 400; ++g) {
    const std::vector<int32_t> tokens = Train(*blend, g);
    const auto s = static_cast<size_t>(tokens[0] / 1000);
    const auto at = blend->Locate(g);
    ASSERT_TRUE(at.ok());
    EXPECT_EQ(at->source, static_cast<int64_t>(s));
    EXPECT_EQ(at->first_token, tokens[0] % 1000);
    EXPECT_EQ(at->epoch, static_cast<int64_t>(seen[s].size()) /
                             blend->source(at->source).train_samples());
    for (int32_t t = 0; t <= kSequence; ++t) {
      EXPECT_EQ(tokens[t], tokens[0] + t);
    }
    seen[s].push_back(tokens[0]);
  }
  EXPECT_EQ(seen[0].size(), 196u);
  EXPECT_EQ(seen[1].size(), 196u);
  EXPECT_EQ(seen[2].size(), 8u);
  const size_t samples[] = {10, 20, 3};
  for (size_t s = 0; s < 3; ++s) {
    for (size_t e = 0; (e + 1) * samples[s] <= seen[s].size(); ++e) {
      const auto first = seen[s].begin() + static_cast<int64_t>(e * samples[s]);
      EXPECT_EQ(
          std::set<int32_t>(first, first + static_cast<int64_t>(samples[s]))
              .size(),
          samples[s]);
    }
  }
  // Other weights: the same order within each source.
  const auto other = MustOpen(fs, WriteSources(fs, {0.1, 0.2, 0.7}));
  std::vector<size_t> next(3, 0);
  int64_t compared = 0;
  for (uint64_t g = 0; g < 400; ++g) {
    const std::vector<int32_t> tokens = Train(*other, g);
    const auto s = static_cast<size_t>(tokens[0] / 1000);
    if (next[s] < seen[s].size()) {
      EXPECT_EQ(tokens[0], seen[s][next[s]++]);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 40 + 80 + 8);
}

// marin-community/levanter#876: the loader asks ahead of the step;
// huggingface/accelerate#3034: prefetched batches counted as consumed.
TEST(BlendDatasetTest, ReadingAheadFromAnyThreadChangesNothing) {
  MemoryFileSystem fs;
  DataConfig config = WriteSources(fs, {1, 0, 0});
  config.weights_schedule = {{28, {0, 1, 0}}};  // step 7 of 4 samples
  const auto dataset = MustOpen(fs, config);
  std::vector<std::vector<int32_t>> in_order;
  for (uint64_t g = 0; g < 64; ++g) {
    in_order.push_back(Train(*dataset, g));
    EXPECT_EQ(in_order.back()[0] / 1000, g < 28 ? 0 : 1) << g;
  }
  for (const size_t threads : {1, 3, 4}) {
    std::vector<std::vector<int32_t>> read(64);
    std::vector<std::thread> workers;
    for (size_t w = 0; w < threads; ++w) {
      workers.emplace_back([&, w] {
        for (size_t g = 64; g-- > 0;) {
          if (g % threads == w) read[g] = Train(*dataset, g);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(read, in_order) << threads;
  }
}

// marin-community/marin#2700: validation overlapped training, and a first test
// passed because the validation set was empty.
TEST(BlendDatasetTest, EverySourceHoldsOutDocumentsOfItsOwn) {
  MemoryFileSystem fs;
  for (const std::vector<double>& weights :
       {std::vector<double>{1, 1, 1}, {0.49, 0.49, 0.02}, {0, 1, 1}}) {
    const auto dataset = MustOpen(fs, WriteSources(fs, weights));
    ASSERT_EQ(dataset->source_count(), 3);
    EXPECT_EQ(dataset->validation_samples(), 6);
    std::set<int32_t> held_out;
    for (int64_t s = 0; s < 3; ++s) {
      EXPECT_EQ(dataset->validation_samples(s), 2);
      for (int64_t i = 0; i < 2; ++i) {
        std::vector<int32_t> tokens(kSequence + 1);
        std::vector<uint8_t> mask(kSequence);
        ASSERT_TRUE(dataset->ValidationSample(s, i, {tokens, mask, {}}).ok());
        EXPECT_EQ(tokens[0], 1000 * s + 900 + 4 * i);
        held_out.insert(tokens[0]);
        for (int64_t t = 0; t < kSequence; ++t) {
          if (mask[t] == 1) held_out.insert(tokens[t + 1]);
        }
      }
    }
    EXPECT_EQ(held_out.size(), 21u);  // all 7 of each
    for (uint64_t g = 0; g < 400; ++g) {
      for (const int32_t token : Train(*dataset, g)) {
        EXPECT_FALSE(held_out.contains(token)) << token;
      }
    }
  }
}

// NVIDIA/Megatron-LM#1007.
TEST(BlendDatasetTest, ASourceThatIsNeverDrawnIsReported) {
  MemoryFileSystem fs;
  std::string said;
  const auto dataset =
      MustOpen(fs, WriteSources(fs, {0.4995, 0.4995, 1e-7}),
               [&](const std::string& line) { said += line + "\n"; });
  EXPECT_NE(said.find("/d/c is never drawn with its weight rounded to 0/"),
            std::string::npos)
      << said;
  EXPECT_NE(
      said.find("/d/a is drawn with its weight rounded to 524288/1048576"),
      std::string::npos)
      << said;
  const std::string draws = dataset->DescribeDraws(0, 20);
  EXPECT_NE(draws.find("/d/a: 10 (1.000 epochs by then); /d/b: 10 (0.500 "
                       "epochs by then); /d/c: none"),
            std::string::npos)
      << draws;
}

TEST(BlendDatasetTest, IdentitiesNameEverySource) {
  MemoryFileSystem fs;
  const auto identities =
      MustOpen(fs, WriteSources(fs, {1, 1, 1}))->Identities();
  ASSERT_EQ(identities.size(), 6u);
  std::set<std::string> hashes;
  for (const DataFileIdentity& identity : identities) {
    EXPECT_EQ(identity.sha256.size(), 64u);
    hashes.insert(identity.sha256);
  }
  EXPECT_EQ(hashes.size(), 3u);
  EXPECT_EQ(identities[4].path, "/d/c.bin");
}

}  // namespace
}  // namespace lockstep
