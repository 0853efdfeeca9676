#include "tools/spike_detector.h"

#include <gtest/gtest.h>

#include "determinism/state.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

SpikeConfig With(const std::string& action) {
  return {.action = action, .window = 8, .warmup = 4};
}

struct Rig {
  explicit Rig(const SpikeConfig& config) : detector(registry, config) {}
  // Updates around a loss of 4 and a norm of 1, a few percent apart.
  void Feed(int64_t updates) {
    constexpr double kWobble[] = {1.0, 1.03, 0.98, 1.01, 0.97, 1.02};
    for (int64_t i = 0; i < updates; ++i) {
      const double w = kWobble[i % 6];
      detector.Applied(4 * w, w);
    }
  }
  std::string State() const { return StateFingerprint(registry); }

  StateRegistry registry;
  SpikeDetector detector;
};

// By hand: 1, 2, 3, 4, 100 have median 3, deviations 2, 1, 0, 1, 97, MAD 1.
TEST(SpikeDetectorTest, MedianAndMadByHand) {
  const RobustLimit odd = LimitOf({100, 2, 4, 1, 3}, 2);
  EXPECT_EQ(odd.median, 3.0);
  EXPECT_EQ(odd.limit, 3.0 + 2 * 1.4826);
  // 1, 2, 4, 7: median 3; deviations 1, 1, 2, 4: MAD 1.5.
  const RobustLimit even = LimitOf({7, 1, 4, 2}, 1);
  EXPECT_EQ(even.median, 3.0);
  EXPECT_EQ(even.limit, 3.0 + 1.4826 * 1.5);
  // No spread: one percent, so that the next rounding is no spike.
  EXPECT_EQ(LimitOf({5, 5, 5}, 3).limit, 5.0 + 3 * 0.01);
}

TEST(SpikeDetectorTest, ASpikeOfEitherIsFoundAndNamed) {
  Rig rig(With("note"));
  rig.Feed(8);
  EXPECT_FALSE(rig.detector.Judge(4.1, 1.0));
  const auto loss = rig.detector.Judge(12, 1.0);
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->what, "loss");
  EXPECT_EQ(loss->value, 12);
  EXPECT_NEAR(loss->median, 4, 0.2);
  EXPECT_LT(loss->limit, 12);
  const auto norm = rig.detector.Judge(4, 9);
  ASSERT_TRUE(norm);
  EXPECT_EQ(norm->what, "grad_norm");
}

// The limit that is told is the limit that is held.
TEST(SpikeDetectorTest, TheLimitIsTheBorder) {
  Rig rig(With("note"));
  rig.Feed(8);
  const double limit = rig.detector.Judge(100, 1)->limit;
  EXPECT_FALSE(rig.detector.Judge(limit * (1 - 1e-12), 1));
  EXPECT_TRUE(rig.detector.Judge(limit * (1 + 1e-12), 1));
}

TEST(SpikeDetectorTest, AFallIsNoSpikeAndZeroIsNoCrash) {
  Rig rig(With("note"));
  rig.Feed(8);
  EXPECT_FALSE(rig.detector.Judge(0.1, 0.01));
  EXPECT_FALSE(rig.detector.Judge(0, 0));
  rig.detector.Applied(0, 0);
  EXPECT_FALSE(rig.detector.Judge(4, 1));
}

TEST(SpikeDetectorTest, NothingIsJudgedBeforeTheWarmup) {
  Rig rig(With("note"));
  rig.Feed(3);
  EXPECT_FALSE(rig.detector.Judge(1e6, 1e6));
  rig.Feed(1);
  EXPECT_TRUE(rig.detector.Judge(1e6, 1e6));
}

// Outliers that were applied do not hide the next one, up to half a window.
TEST(SpikeDetectorTest, OutliersDoNotRaiseTheLimit) {
  Rig rig(With("note"));
  rig.Feed(8);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(rig.detector.Judge(40, 1)) << i;
    rig.detector.Applied(40, 1);
  }
}

// A level that stays becomes the new normal: the window is the last updates.
TEST(SpikeDetectorTest, ANewLevelIsAcceptedAfterAWindow) {
  Rig rig(With("note"));
  rig.Feed(8);
  EXPECT_TRUE(rig.detector.Judge(8, 1));
  for (int i = 0; i < 8; ++i) rig.detector.Applied(8, 1);
  EXPECT_FALSE(rig.detector.Judge(8, 1));
}

TEST(SpikeDetectorTest, ActionsAndTheLimitOfSkips) {
  Rig off(With("off")), note(With("note")), skip(With("skip")),
      stop(With("stop"));
  for (Rig* rig : {&off, &note, &skip, &stop}) rig->Feed(8);
  EXPECT_FALSE(off.detector.Judge(100, 1));
  EXPECT_TRUE(note.detector.Judge(100, 1));
  EXPECT_FALSE(note.detector.Skips() || note.detector.Stops());
  EXPECT_TRUE(stop.detector.Stops());
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(skip.detector.Skips()) << i;
    EXPECT_FALSE(skip.detector.Stops()) << i;
    skip.detector.Skipped();
  }
  EXPECT_TRUE(skip.detector.Stops());
  EXPECT_FALSE(skip.detector.Skips());
  const absl::Status status =
      skip.detector.Stopped(*skip.detector.Judge(100, 1), "step 9");
  EXPECT_EQ(ExitCodeFor(status), 5);
  skip.Feed(1);  // an update clears the count
  EXPECT_TRUE(skip.detector.Skips());
}

// Watching changes no state (N12), and judging changes none at all.
TEST(SpikeDetectorTest, StateDoesNotDependOnTheAction) {
  Rig off(With("off")), note(With("note"));
  EXPECT_EQ(off.State(), note.State());
  off.Feed(11);
  note.Feed(11);
  EXPECT_EQ(off.State(), note.State());
  const std::string before = note.State();
  EXPECT_TRUE(note.detector.Judge(100, 1));
  EXPECT_EQ(note.State(), before);
  constexpr StateGroupSet kSpikes = SetOf(StateGroup::kSpike);
  EXPECT_EQ(StateTensorFingerprints(off.registry, kSpikes).size(), 3u);
  EXPECT_EQ(StateTensorFingerprints(off.registry, kAllState).size(), 3u);
}

}  // namespace
}  // namespace lockstep
