// Batches read ahead are the batches read at once: contents, errors, order.
#include "data/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Samples = std::vector<uint64_t>;

constexpr int64_t kTokens = 5;
constexpr uint64_t kBroken = 1000;  // samples from here on cannot be read

absl::Status ReadSample(uint64_t sample, const SampleRows& rows) {
  if (sample >= kBroken) {
    return InputError("damaged", absl::StrCat("sample ", sample), "mend it");
  }
  for (size_t t = 0; t < rows.tokens.size(); ++t) {
    rows.tokens[t] = static_cast<int32_t>(sample * 100 + t);
  }
  for (size_t t = 0; t < rows.mask.size(); ++t) {
    rows.mask[t] = static_cast<uint8_t>((sample + t) % 3);
  }
  for (size_t t = 0; t < rows.segments.size(); ++t) {
    rows.segments[t] = static_cast<int32_t>(sample + t / 2);
  }
  return absl::OkStatus();
}

PrefetchOptions Options(int threads, bool segments = true) {
  return {.threads = threads, .sequence = kTokens, .segments = segments};
}

// Of step `step`, with gaps.
Samples BatchOf(uint64_t step) {
  const uint64_t first = step * 7;
  return {first, first + 1, first + 4, first + 6};
}

void ExpectBatch(const absl::StatusOr<SampleBatch>& got,
                 const Samples& samples) {
  ASSERT_TRUE(got.ok()) << std::string(got.status().message());
  Prefetcher alone(ReadSample, Options(0));
  const auto want = alone.Take(samples);
  ASSERT_TRUE(want.ok());
  EXPECT_EQ(got->samples, samples);
  EXPECT_EQ(got->tokens_ST1, want->tokens_ST1);
  EXPECT_EQ(got->mask_ST, want->mask_ST);
  EXPECT_EQ(got->segments_ST, want->segments_ST);
  EXPECT_EQ(got->tokens_ST1.size(), samples.size() * (kTokens + 1));
  EXPECT_EQ(alone.read_ahead(), 0);
}

class PrefetchTest : public testing::TestWithParam<std::pair<int, uint64_t>> {};

TEST_P(PrefetchTest, EveryThreadCountAndDepthGivesTheSame) {
  const auto [threads, depth] = GetParam();
  Prefetcher prefetcher(ReadSample, Options(threads));
  for (uint64_t step = 0; step < 40; ++step) {
    std::vector<Samples> ahead;
    for (uint64_t d = 0; d <= depth; ++d) ahead.push_back(BatchOf(step + d));
    prefetcher.Announce(ahead);
    ExpectBatch(prefetcher.Take(BatchOf(step)), BatchOf(step));
  }
}

// The step that needs a batch meets its error, no step before; and it is the
// first sample's, whichever was tried first.
TEST_P(PrefetchTest, AnErrorIsMetWhereItsBatchIsAskedFor) {
  const auto [threads, depth] = GetParam();
  for (int trial = 0; trial < 20; ++trial) {
    Prefetcher prefetcher(ReadSample, Options(threads));
    const std::vector<Samples> steps = {
        BatchOf(0),
        BatchOf(1),
        {20, kBroken + 3, kBroken + 1, kBroken + 9},
        BatchOf(3)};
    for (size_t step = 0; step < 4; ++step) {
      std::vector<Samples> ahead(
          steps.begin() + static_cast<int64_t>(step),
          steps.begin() +
              static_cast<int64_t>(std::min(step + depth + 1, steps.size())));
      prefetcher.Announce(ahead);
      const auto batch = prefetcher.Take(steps[step]);
      if (step != 2) {
        ExpectBatch(batch, steps[step]);
        continue;
      }
      EXPECT_EQ(ExitCodeFor(batch.status()), 2);
      EXPECT_EQ(batch.status(), ReadSample(kBroken + 3, SampleRows{}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ThreadsAndDepths, PrefetchTest,
                         testing::Values(std::pair{0, 1}, std::pair{0, 4},
                                         std::pair{1, 1}, std::pair{1, 4},
                                         std::pair{3, 1}, std::pair{3, 4}));

TEST(PrefetcherTest, ThreadsReadWhatIsAnnouncedBeforeItIsAskedFor) {
  Prefetcher prefetcher(ReadSample, Options(2));
  prefetcher.Announce({BatchOf(0), BatchOf(1)});
  while (prefetcher.read_ahead() < 8) std::this_thread::yield();
  ExpectBatch(prefetcher.Take(BatchOf(1)), BatchOf(1));
  ExpectBatch(prefetcher.Take(BatchOf(0)), BatchOf(0));
  EXPECT_EQ(prefetcher.read_ahead(), 8);
}

TEST(PrefetcherTest, OtherSamplesThanAnnouncedAreReadAllTheSame) {
  Prefetcher prefetcher(ReadSample, Options(2));
  prefetcher.Announce({BatchOf(0), {kBroken}});
  ExpectBatch(prefetcher.Take(BatchOf(9)), BatchOf(9));
  prefetcher.Announce({BatchOf(4)});
  ExpectBatch(prefetcher.Take(BatchOf(0)), BatchOf(0));
  ExpectBatch(prefetcher.Take(BatchOf(4)), BatchOf(4));
  ExpectBatch(prefetcher.Take(BatchOf(4)), BatchOf(4));
}

TEST(PrefetcherTest, WithoutDocumentsThereAreNoSegments) {
  Prefetcher prefetcher(ReadSample, Options(1, /*segments=*/false));
  const auto batch = prefetcher.Take(BatchOf(2));
  ASSERT_TRUE(batch.ok());
  EXPECT_TRUE(batch->segments_ST.empty());
  EXPECT_EQ(batch->mask_ST.size(), 4u * kTokens);
}

// Ends with samples announced, being read and never asked for.
TEST(PrefetcherTest, ItEndsWithWorkLeft) {
  for (int trial = 0; trial < 50; ++trial) {
    std::atomic<int64_t> begun = 0, ended = 0;
    {
      Prefetcher prefetcher(
          [&](uint64_t sample, const SampleRows& rows) {
            ++begun;
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            ++ended;
            return ReadSample(sample, rows);
          },
          Options(3));
      prefetcher.Announce({BatchOf(0), BatchOf(1), BatchOf(2), BatchOf(3)});
      if (trial % 2 == 1) prefetcher.Announce({BatchOf(3), BatchOf(4)});
      while (begun == 0) std::this_thread::yield();
    }
    EXPECT_EQ(begun, ended);
  }
}

}  // namespace
}  // namespace lockstep
