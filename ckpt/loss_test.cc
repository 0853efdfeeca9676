// Every legal loss of what was not synced, at every point of a save of two
// ranks: the checkpoint before or the new one loads, with the right bits.

#include <gtest/gtest.h>

#include <cstddef>

#include "ckpt/losses_for_test.h"
#include "ckpt/recorded_calls_for_test.h"

namespace lockstep {
namespace {

TEST(Losses, OfANewStepLeaveTheOldOrTheNew) {
  for (const bool copied : {true, false}) {
    Losses losses(Record(5, 6, copied), 5, 6);
    losses.GoThrough();
    losses.Print(copied ? "saved from a copy" : "saved tensor by tensor");
    EXPECT_EQ(losses.bad, 0);
    EXPECT_GT(losses.olds, 100);
    EXPECT_GT(losses.news, 0);
    EXPECT_GT(losses.points, 30);
  }
}

// The step that stands is moved aside first.
TEST(Losses, OfAStepThatIsSavedAgainLeaveOneOfTheTwo) {
  Losses losses(Record(6, 6, true), 6, 6);
  losses.GoThrough();
  losses.Print("saved again");
  EXPECT_EQ(losses.bad, 0);
  EXPECT_GT(losses.news, 100);
}

// The canary: each sync that is left out loses something, somewhere.
TEST(Losses, EverySyncOfASaveMatters) {
  const Recorded whole = Record(5, 6, true);
  int64_t syncs = 0;
  const auto without = [&](RecordedCalls Recorded::*calls, size_t at) {
    const RecordedCall call = (whole.*calls)[at];
    if (call.kind != RecordedCall::kSync &&
        call.kind != RecordedCall::kSyncDir) {
      return;
    }
    ++syncs;
    Recorded less = whole;
    (less.*calls).erase((less.*calls).begin() + static_cast<ptrdiff_t>(at));
    Losses losses(less, 5, 6);
    losses.GoThrough();
    EXPECT_GT(losses.bad, 0) << call.path;
  };
  for (size_t i = 0; i < whole.first.size(); ++i) without(&Recorded::first, i);
  for (size_t i = 0; i < whole.second.size(); ++i) {
    without(&Recorded::second, i);
  }
  EXPECT_EQ(syncs, 6);  // two shards, manifest, index, two folders
}

}  // namespace
}  // namespace lockstep
