// The stream of samples without ranges, against counting one by one.
#include "tools/skip_list.h"

#include <gtest/gtest.h>

#include "determinism/philox.h"
#include "tools/step_fingerprint.h"

namespace lockstep {
namespace {

using Samples = std::vector<uint64_t>;

bool Skipped(const std::vector<SkipRange>& ranges, uint64_t sample) {
  for (const SkipRange& r : ranges) {
    if (sample >= r.first && sample <= r.last && sample >= r.adopted_at) {
      return true;
    }
  }
  return false;
}

uint64_t Draw(uint64_t item, uint64_t element, uint64_t below) {
  return RandomU32(5, {Stream::kTest, 0, item, element}) % below;
}

TEST(SampleStreamTest, IsWhatCountingGives) {
  int64_t compared = 0;
  for (uint64_t trial = 0; trial < 400; ++trial) {
    std::vector<SkipRange> ranges;
    for (uint64_t r = 0; r < trial % 6; ++r) {
      const uint64_t first = Draw(trial, 3 * r, 60);
      ranges.push_back({first, first + Draw(trial, 3 * r + 1, 20),
                        Draw(trial, 3 * r + 2, 80)});
    }
    const SampleStream stream(ranges);
    const uint64_t cursor = Draw(trial, 100, 60);
    for (const int64_t count : {0, 1, 2, 7, 40}) {
      Samples expected;
      uint64_t next = cursor;
      for (; static_cast<int64_t>(expected.size()) < count; ++next) {
        if (!Skipped(ranges, next)) expected.push_back(next);
      }
      const auto taken = stream.Take(cursor, count);
      ASSERT_TRUE(taken.ok());
      EXPECT_EQ(*taken, expected) << trial;
      EXPECT_EQ(stream.CursorAfter(cursor, static_cast<uint64_t>(count)), next)
          << trial;
      EXPECT_EQ(stream.Left(cursor) - stream.Left(next),
                static_cast<uint64_t>(count))
          << trial;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2000);
}

TEST(SampleStreamTest, EndsAtTheLastIndex) {
  constexpr uint64_t kLast = kSampleEnd - 1;
  const SampleStream stream({{3, kLast, 0}});
  EXPECT_EQ(*stream.Take(0, 3), (Samples{0, 1, 2}));
  EXPECT_FALSE(stream.Take(0, 4).ok());
  EXPECT_EQ(stream.CursorAfter(0, 3), 3u);
  EXPECT_EQ(stream.CursorAfter(0, 4), kSampleEnd);
  EXPECT_EQ(*SampleStream().Take(kLast, 1), Samples{kLast});
  EXPECT_FALSE(SampleStream().Take(kLast, 2).ok());
  EXPECT_EQ(stream.Left(0), 3u);
  EXPECT_EQ(stream.Left(2), 1u);
  EXPECT_EQ(stream.Left(kSampleEnd), 0u);
  EXPECT_EQ(SampleStream().Left(kLast), 1u);
}

// Each sample is counted with the first range that has it.
TEST(SampleStreamTest, OverlapsAreCountedOnce) {
  const std::vector<SkipRange> ranges = {
      {10, 14, 0}, {12, 21, 0}, {10, 21, 0}, {0, 30, 28}, {3, 5, 9}};
  EXPECT_EQ(NewlySkipped(ranges), (Samples{5, 7, 0, 3, 0}));
  int64_t counted = 0;
  for (uint64_t sample = 0; sample < 40; ++sample) {
    counted += Skipped(ranges, sample) ? 1 : 0;
  }
  EXPECT_EQ(counted, 15);
}

TEST(SampleStreamTest, ARunThatNeedsMoreThanIsLeftIsRefused) {
  const std::vector<SkipRange> ranges = {{5, kSampleEnd - 1, 0}};
  EXPECT_TRUE(CheckSamplesAreLeft(ranges, 0, 5).ok());
  EXPECT_FALSE(CheckSamplesAreLeft(ranges, 0, 6).ok());
  EXPECT_FALSE(CheckSamplesAreLeft(ranges, 2, 4).ok());
  EXPECT_TRUE(CheckSamplesAreLeft(ranges, 9, 0).ok());
}

TEST(SkipListTest, WhatIsSavedIsWhatIsUsed) {
  StateRegistry registry;
  SkipList list(registry);
  const std::string empty = StateFingerprint(registry);
  const std::vector<SkipRange> ranges = {{40, 47, 16}, {0, kSampleEnd - 1, 3}};
  for (const SkipRange& range : ranges) list.Adopt(range);
  EXPECT_EQ(*list.Ranges(), ranges);
  EXPECT_NE(StateFingerprint(registry), empty);
  PoisonState(registry);
  EXPECT_FALSE(list.Ranges().ok());
}

// N11: samples enter a field where they lie in the whole run, so consecutive
// ones may as well enter together, and a gap is seen.
TEST(StepFingerprintTest, N11SamplesAreKeyedByTheirIndices) {
  const std::vector<float> losses = {1, 2, 3, 4, 5, 6};
  const Samples consecutive = {10, 11, 12}, gap = {10, 11, 13};
  EXPECT_EQ(LossField(consecutive, 2, losses),
            FieldFingerprint({{"loss",
                               DType::kF32,
                               {3, 2},
                               FingerprintBytes(losses.data(), 24, 10 * 8)}}));
  EXPECT_NE(LossField(gap, 2, losses), LossField(consecutive, 2, losses));
  const std::vector<int32_t> tokens(9, 4);
  const std::vector<uint8_t> mask(6, 1);
  EXPECT_NE(DataField(gap, 2, tokens, mask),
            DataField(consecutive, 2, tokens, mask));
}

}  // namespace
}  // namespace lockstep
