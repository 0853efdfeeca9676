// Token files: widths, sizes beyond 32 bits, and ids that no model has.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/cases/own_stepper.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

template <class T>
void Append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The index of one document in sequences of 2^30 tokens of 16 bits.
std::string IndexOfLongDocument(int64_t tokens) {
  constexpr int64_t kPart = int64_t{1} << 30;
  std::string lengths, offsets;
  int64_t sequences = 0;
  for (int64_t at = 0; at < tokens; at += kPart, ++sequences) {
    Append(lengths, static_cast<int32_t>(std::min(kPart, tokens - at)));
    Append(offsets, 2 * at);
  }
  std::string index("MMIDIDX\0\0", 9);
  Append(index, uint64_t{1});
  Append(index, uint8_t{8});
  Append(index, sequences);
  Append(index, int64_t{2});
  index += lengths + offsets;
  Append(index, int64_t{0});
  Append(index, sequences);
  return index;
}

// Sample positions overflowed at 2^31, when the run got there
// (EleutherAI/gpt-neox#835, NVIDIA/Megatron-LM#598, NVIDIA/Megatron-LM#1056).
// The last sample of 2^31 + 2^20 + 5 tokens begins at 2^31.
TEST(IndexCaseTest, SamplesBeyondTwoToThe31AreWhereTheyShouldBe) {
  constexpr int64_t kRow = int64_t{1} << 20, kFar = int64_t{1} << 31;
  constexpr int64_t kTokens = kFar + kRow + 5;
  const std::string prefix = testing::TempDir() + "/far";
  const int fd = open((prefix + ".bin").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 2 * kTokens), 0);
  const uint16_t marks[] = {11, 12, 13};
  const int64_t places[] = {kFar - 1, kFar, kFar + kRow};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(pwrite(fd, &marks[i], 2, 2 * places[i]), 2);
  }
  close(fd);
  FileSystem& fs = *PosixFileSystem();
  ASSERT_TRUE(
      WriteFileAtomically(fs, prefix + ".idx", IndexOfLongDocument(kTokens))
          .ok());
  DataConfig config;
  config.sequence = kRow;
  config.sources = {{.path = prefix}};
  const auto data = Dataset::Open(fs, config, testing::TempDir(), 1, 257);
  ASSERT_TRUE(data.ok()) << std::string(data.status().message());
  const int64_t samples = (*data)->source(0).train_samples();
  ASSERT_EQ(samples, kFar / kRow + 1);
  uint64_t last = 0;
  std::vector<int64_t> seen(static_cast<size_t>(samples), 0);
  for (int64_t g = 0; g < samples; ++g) {
    const auto at = (*data)->Locate(static_cast<uint64_t>(g));
    ASSERT_TRUE(at.ok());
    EXPECT_EQ(at->first_token, at->sample * kRow);
    if (at->sample == samples - 1) last = static_cast<uint64_t>(g);
    ++seen[static_cast<size_t>(at->sample)];
  }
  EXPECT_EQ(seen, std::vector<int64_t>(static_cast<size_t>(samples), 1));
  std::vector<int32_t> tokens(kRow + 1);
  std::vector<uint8_t> mask(kRow);
  ASSERT_TRUE((*data)->TrainSample(last, {tokens, mask, {}}).ok());
  EXPECT_EQ(tokens.front(), 12);
  EXPECT_EQ(tokens.back(), 13);
  EXPECT_EQ(tokens[1], 0);
  unlink((prefix + ".bin").c_str());
}

// A counter of tokens showed 1.66 billion for 10.25 billion
// (karpathy/llm.c#822).
TEST(IndexCaseTest, CountersGoOnBeyondTwoToThe32) {
  constexpr uint64_t kSeen = (uint64_t{1} << 33) + 3;
  const RigOptions options = {.recipe = SmallRecipe("counters", 24),
                              .steps = 12};
  OwnStepper stepper(options, testing::TempDir() + "/counters");
  SetCounter(stepper->registry(), "run/cursor", kSeen);
  SetCounter(stepper->registry(), "run/samples_seen", kSeen);
  SetCounter(stepper->registry(), "run/update_samples", kSeen);
  SetCounter(stepper->registry(), "run/tokens_seen", kSeen * kSmallSequence);
  for (int64_t step = 1; step <= 3; ++step) {
    const StepReport report = stepper.Step();
    const auto seen = static_cast<int64_t>(kSeen) + 4 * step;
    EXPECT_EQ(report.samples_seen, seen);
    EXPECT_EQ(report.tokens_seen, seen * kSmallSequence);
    EXPECT_EQ(report.sample_last, static_cast<uint64_t>(seen) - 1);
    EXPECT_EQ(report.lr, 3e-4);  // the end of the curve
  }
}

// A reader took all tokens for 2 bytes wide (Blealtan/RWKV-LM-LoRA#46). The
// index says how wide they are, and the file has to agree.
TEST(IndexCaseTest, AFileOfAnotherWidthThanItsIndexIsRefused) {
  FileSystem& fs = *PosixFileSystem();
  const std::string wide = WriteDocuments(
      "wide", {std::vector<int32_t>(300, 5), {1, 2}}, /*vocab=*/70000);
  const RigOptions options = {
      .recipe = WriteSmallRecipe("wide", SourceOf(wide)),
      .steps = 8,
      .until = 2};
  const TrainRig rig = SmallRig("wide");
  rig.Unseed(options);  // 4 bytes, as its index says
  std::string index = *fs.ReadFile(wide + ".idx");
  ASSERT_EQ(index[17], 4);
  index[17] = 8;  // uint16
  ASSERT_TRUE(WriteFileAtomically(fs, wide + ".idx", index).ok());
  ASSERT_TRUE(fs.Remove(wide + ".blocks").ok());
  const TrainRig other = SmallRig("narrow");
  const RigResult result = other.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  EXPECT_TRUE(absl::StrContains(result.status.message(), wide))
      << result.status.message();
}

// An id beyond the embedding was an assertion on a device, not a message
// (huggingface/tokenizers#1609).
TEST(IndexCaseTest, AnIdBeyondTheVocabularyIsNamedWithItsPlace) {
  std::vector<std::vector<int32_t>> documents(3, std::vector<int32_t>(100, 7));
  documents[1][42] = 257;
  const std::string prefix = WriteDocuments("beyond", documents, 300);
  const TrainRig rig = SmallRig("beyond");
  const RigResult result = rig.Train(
      {.recipe = WriteSmallRecipe("beyond", SourceOf(prefix)), .steps = 12});
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  for (const char* told : {"beyond.bin", "document 1", "42", "257"}) {
    EXPECT_TRUE(absl::StrContains(result.status.message(), told))
        << "no '" << told << "' in: " << result.status.message();
  }
}

}  // namespace
}  // namespace lockstep
