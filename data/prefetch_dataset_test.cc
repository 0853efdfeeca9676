// A dataset read ahead by threads: blocks are hashed by whichever comes first.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/prefetch.h"
#include "data/shard_test.h"
#include "data/test_files.h"
#include "data/verify_tokens.h"
#include "determinism/file_system.h"

namespace lockstep {
namespace {

using Samples = std::vector<uint64_t>;

enum class Files { kPair, kShards };

// 2^20 ids of a vocabulary of 257, twice: a pair, or two shards of llm.c. The
// path that names them, and the last of the files.
std::pair<std::string, std::string> WriteBlocks(FileSystem& fs, Files files) {
  const std::string prefix = testing::TempDir() + "/prefetch_blocks";
  std::vector<int32_t> document(1 << 20);
  for (size_t i = 0; i < document.size(); ++i) {
    document[i] = static_cast<int32_t>(i * i % 257);
  }
  if (files == Files::kPair) {
    WriteTestTokens(fs, prefix, 257, {document, document}, 1 << 20);
    return {prefix, prefix + ".bin"};
  }
  const std::string shard = Shard({document.begin(), document.end()});
  const std::string dir = testing::TempDir() + "/prefetch_shards";
  for (const char* name : {"/a.bin", "/b.bin"}) {
    WriteTestFile(fs, dir + name, shard);
  }
  EXPECT_TRUE(VerifyTokens(fs, dir).ok());
  return {dir, dir + "/b.bin"};
}

// Several MiB with a hash each, first read by whichever thread comes first.
std::unique_ptr<Dataset> OpenBlocks(Files files, bool damaged) {
  FileSystem& fs = *PosixFileSystem();
  const auto [path, last] = WriteBlocks(fs, files);
  if (damaged) {  // in a block that the opening does not look at
    std::string bytes = ReadTestFile(fs, last);
    bytes[3 << 19] = static_cast<char>(bytes[3 << 19] ^ 1);
    WriteTestFile(fs, last, bytes);
  }
  DataConfig config;
  config.sequence = 1024;
  config.sources = {{.path = path}};
  auto dataset = Dataset::Open(fs, config, testing::TempDir(), 1, 257);
  EXPECT_TRUE(dataset.ok()) << std::string(dataset.status().message());
  return *std::move(dataset);
}

// Batches of 8 until the first that fails: how many there were, and its error.
std::pair<uint64_t, absl::Status> ReadAll(Files files, bool damaged,
                                          int threads,
                                          std::vector<int32_t>& tokens) {
  const auto dataset = OpenBlocks(files, damaged);
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
  for (const Files files : {Files::kPair, Files::kShards}) {
    for (const bool damaged : {false, true}) {
      std::vector<int32_t> alone, shared;
      const auto want = ReadAll(files, damaged, 0, alone);
      EXPECT_EQ(want.second.ok(), !damaged);
      EXPECT_EQ(alone.size(), want.first * 8 * 1025);
      for (const int threads : {1, 3}) {
        shared.clear();
        EXPECT_EQ(ReadAll(files, damaged, threads, shared), want) << threads;
        EXPECT_EQ(shared, alone) << threads;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
