// A bent curve is one difference, under one name.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ckpt/manifest_compare.h"
#include "ckpt/manifest_for_test.h"

namespace lockstep {
namespace {

using Keys = std::vector<std::string>;

constexpr char kLength[] = "schedule.length_samples = 640\n";
constexpr char kWarmup[] = "schedule.warmup_samples = 64\n";
constexpr char kDecay[] = "schedule.decay_samples = 64\n";

// Which keys are refused, on every rung, where the recipe has these lines more.
Keys Refused(const std::string& lines, int64_t samples) {
  Manifest m = Sample();
  m.recipe.trajectory_text += lines;
  m.recipe.text += lines;
  m.schedule_length_samples = samples;
  Keys first;
  for (const Guarantee rung :
       {Guarantee::kStatistical, Guarantee::kStateExact, Guarantee::kBitwise,
        Guarantee::kLayoutInvariant}) {
    Keys keys;
    for (const auto& d : CompareManifests(Sample(), m, rung)) {
      if (d.verdict == Verdict::kRefused) keys.push_back(d.key);
    }
    if (rung == Guarantee::kStatistical) first = keys;
    EXPECT_EQ(keys, first);
  }
  return first;
}

TEST(CurveKeysTest, AFieldAndADerivedValueAreOneDifference) {
  EXPECT_EQ(Refused("", 320), Keys());
  EXPECT_EQ(Refused("", 640), Keys({"schedule.length_samples"}));
  EXPECT_EQ(Refused(kLength, 640), Keys({"schedule.length_samples"}));
  EXPECT_EQ(Refused(kWarmup, 320), Keys({"schedule.warmup_samples"}));
  EXPECT_EQ(Refused(kDecay, 320), Keys({"schedule.decay_samples"}));
}

TEST(CurveKeysTest, WhatFollowsFromAKeyIsNotAskedForBesideIt) {
  const std::string all = std::string(kLength) + kWarmup + kDecay;
  EXPECT_EQ(Refused(all, 640).size(), 3u);
  for (const std::string key : {"schedule.shape", "schedule.length",
                                "schedule.warmup", "schedule.decay"}) {
    EXPECT_EQ(Refused(all + key + " = 8\n", 640), Keys({key}));
  }
  // A key that bends nothing explains nothing.
  EXPECT_EQ(Refused(std::string(kWarmup) + "schedule.min_lr = 1\n", 320),
            Keys({"schedule.min_lr", "schedule.warmup_samples"}));
}

}  // namespace
}  // namespace lockstep
