// N11: a short campaign of each case; FINGERPRINT.md has the long one.

#include "determinism/fingerprint_campaign.h"

#include "gtest/gtest.h"

namespace lockstep {
namespace {

bool MovesElements(Change change) {
  return change == Change::kSwap || change == Change::kPermutation ||
         change == Change::kCopyBlock;
}

TEST(FingerprintCampaignTest, N11NoChangeIsMissedAndAffineKeysMissSome) {
  uint64_t changed = 0, missed_by_affine = 0;
  for (int i = 0; i < kChangeCount; ++i) {
    for (int k = 0; k < kContentsCount; ++k) {
      const auto change = static_cast<Change>(i);
      const auto contents = static_cast<Contents>(k);
      CampaignCounts counts;
      RunTrials(change, contents, 3000, counts);
      EXPECT_EQ(counts.trials, 3000u);
      EXPECT_EQ(counts.missed, 0u) << NameOf(change) << NameOf(contents);
      // Equal elements may be moved without a trace.
      const bool same =
          contents == Contents::kConstant && MovesElements(change);
      EXPECT_EQ(counts.changed == 0, same) << NameOf(change);
      EXPECT_TRUE(same || counts.changed > 2000) << NameOf(change);
      changed += counts.changed;
      missed_by_affine += counts.missed_by_affine;
      if (change == Change::kOneHotRows && contents == Contents::kConstant) {
        EXPECT_GT(counts.missed_by_affine, 1000u);
      }
    }
  }
  EXPECT_GT(changed, 90'000u);
  EXPECT_GT(missed_by_affine, 1500u);
}

// A campaign that is stopped and goes on counts what an unbroken one counts.
TEST(FingerprintCampaignTest, TrialsDependOnTheirNumberAlone) {
  CampaignCounts whole, parts;
  RunTrials(Change::kOneHotRows, Contents::kConstant, 1000, whole);
  for (const uint64_t part : {1, 255, 256, 300, 188}) {
    RunTrials(Change::kOneHotRows, Contents::kConstant, part, parts);
  }
  EXPECT_EQ(parts.trials, whole.trials);
  EXPECT_EQ(parts.changed, whole.changed);
  EXPECT_EQ(parts.missed_by_affine, whole.missed_by_affine);
  EXPECT_GT(parts.missed_by_affine, 0u);
}

}  // namespace
}  // namespace lockstep
