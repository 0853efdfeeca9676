// A dataset read ahead by threads: blocks are hashed by whichever comes first.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/prefetch.h"
#include "data/test_files.h"
#include "determinism/file_system.h"

namespace lockstep {
namespace {

using Samples = std::vector<uint64_t>;

// Several MiB with a hash each, first read by whichever thread comes first.
std::unique_ptr<Dataset> OpenBlocks(bool damaged) {
  FileSystem& fs = *PosixFileSystem();
  const std::string prefix = testing::TempDir() + "/prefetch_blocks";
  std::vector<int32_t> document(1 << 20);
  for (size_t i = 0; i < document.size(); ++i) {
    document[i] = static_cast<int32_t>(i * i % 257);
  }
  WriteTestTokens(fs, prefix, 257, {document, document}, 1 << 20);
  if (damaged) {
    std::string bytes = ReadTestFile(fs, prefix + ".bin");
    bytes[5 << 19] = static_cast<char>(bytes[5 << 19] ^ 1);
    WriteTestFile(fs, prefix + ".bin", bytes);
  }
  DataConfig config;
  config.sequence = 1024;
  config.sources = {{.path = prefix}};
  auto dataset = Dataset::Open(fs, config, testing::TempDir(), 1, 257);
  EXPECT_TRUE(dataset.ok()) << std::string(dataset.status().message());
  return *std::move(dataset);
}

// Batches of 8 until the first that fails: how many there were, and its error.
std::pair<uint64_t, absl::Status> ReadAll(bool damaged, int threads,
                                          std::vector<int32_t>& tokens) {
  const auto dataset = OpenBlocks(damaged);
  Prefetcher prefetcher(
      [&](uint64_t sample, const SampleRows& rows) {
        return dataset->TrainSample(sample, rows);
      },
      {.threads = threads, .sequence = 1024});
  const auto batch_of = [](uint64_t step) {
    Samples samples(8);
    std::iota(samples.begin(), samples.end(), step * 8);
    return samples;
  };
  for (uint64_t step = 0; step < 250; ++step) {
    prefetcher.Announce({batch_of(step), batch_of(step + 1), batch_of(step + 2),
                         batch_of(step + 3)});
    const auto batch = prefetcher.Take(batch_of(step));
    if (!batch.ok()) return {step, batch.status()};
    tokens.insert(tokens.end(), batch->tokens_ST1.begin(),
                  batch->tokens_ST1.end());
  }
  return {250, absl::OkStatus()};
}

TEST(PrefetcherTest, ADatasetIsReadTheSameByAnyNumberOfThreads) {
  for (const bool damaged : {false, true}) {
    std::vector<int32_t> alone, shared;
    const auto want = ReadAll(damaged, 0, alone);
    EXPECT_EQ(want.second.ok(), !damaged);
    EXPECT_EQ(alone.size(), want.first * 8 * 1025);
    for (const int threads : {1, 3}) {
      shared.clear();
      EXPECT_EQ(ReadAll(damaged, threads, shared), want) << threads;
      EXPECT_EQ(shared, alone) << threads;
    }
  }
}

}  // namespace
}  // namespace lockstep
