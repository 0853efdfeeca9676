// Skip lists that a run does not take on: no ranges, or no run left.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/skip_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

TEST(SkipRefusalTest, WhatIsNoRangeIsRefusedByName) {
  const TrainRig rig("skip_refused");
  for (const char* text :
       {"", "7", "9-8", "-5-7", "5--7", "+1-2", "1-2-3", " 1-2", "a-b",
        "0-9223372036854775808", "9223372036854775808-9223372036854775809",
        "0-99999999999999999999999", "0-9223372036854775807"}) {
    const RigResult result = rig.Train({.skip_samples = {"1-2", text}});
    EXPECT_EQ(ExitCodeFor(result.status), 2) << text;
    EXPECT_TRUE(absl::StrContains(result.status.message(),
                                  absl::StrCat("--skip-samples ", text)))
        << std::string(result.status.message());
  }
  EXPECT_FALSE(rig.Exists("manifest.json"));
}

constexpr char kToTheEnd[] = "-9223372036854775807";

void ExpectNotEnough(const RigResult& result, const std::string& text) {
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  EXPECT_TRUE(absl::StrContains(result.status.message(), text))
      << std::string(result.status.message());
}

// Refused before there is a run that would end in the middle.
TEST(SkipRefusalTest, AListThatLeavesTooFewSamplesIsNotAdopted) {
  const TrainRig rig("skip_nothing");
  const RigOptions plain = {.recipe = SmallEpochs(), .steps = 6};
  RigOptions options = plain;
  options.skip_samples = {absl::StrCat("47", kToTheEnd)};
  ExpectNotEnough(rig.Train(options), "needs 48 more samples");
  EXPECT_FALSE(rig.Exists("manifest.json"));
  options.skip_samples = {absl::StrCat("48", kToTheEnd)};
  rig.Unseed(options);
}

// What was adopted before counts, and so does what was read.
TEST(SkipRefusalTest, AListThatLeavesTooFewWithTheRunsOwnIsNotAdopted) {
  const TrainRig rig("skip_with_own");
  RigOptions options = {.recipe = SmallEpochs(), .steps = 6, .until = 2};
  options.skip_samples = {"0-99"};
  rig.Unseed(options);
  options.skip_samples = {absl::StrCat("147", kToTheEnd)};
  options.until.reset();
  ExpectNotEnough(rig.Train(options),
                  "needs 32 more samples, and with these "
                  "ranges passed over only 31 are left");
  EXPECT_EQ(SkipEvents(rig).size(), 1u);
  options.skip_samples = {absl::StrCat("148", kToTheEnd)};
  rig.Unseed(options);
  // A longer run would need more than there are: told before its first step.
  options.steps = 7;
  options.skip_samples = {};
  ExpectNotEnough(rig.Train(options), "needs 8 more samples");
  EXPECT_EQ(rig.Metrics().size(), 6u);
}

}  // namespace
}  // namespace lockstep
