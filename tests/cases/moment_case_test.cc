// Adam's moments beside what their betas allow: whole runs never pass it, and a
// run that was resumed with other betas, or forked, is held against all of
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ckpt/moment_bound.h"
#include "determinism/file_system.h"
#include "tests/cases/small_run.h"
#include "tools/moment_history.h"

namespace lockstep {
namespace {

std::string Checkpoint(const TrainRig& rig, int64_t step) {
  return absl::StrCat(rig.dir(), "/checkpoints/step_0000000", step);
}

MomentHistory HistoryOf(const TrainRig& rig, int64_t step) {
  return MomentHistoryOf(*PosixFileSystem(), Checkpoint(rig, step));
}

std::vector<float> Floats(const TrainRig& rig, int64_t step,
                          const std::string& entry) {
  const std::string bytes = EntryBytes(rig, step, entry);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

// The largest share of what is allowed that any moment of a checkpoint has.
double LargestShare(const TrainRig& rig, int64_t step,
                    const MomentBound& bound) {
  double share = 0;
  int64_t moments = 0;
  for (const auto& [name, entry] : EntriesOf(rig, step)) {
    if (!absl::EndsWith(name, ".exp_avg")) continue;
    const auto m = Floats(rig, step, name), v = Floats(rig, step, name + "_sq");
    EXPECT_EQ(m.size(), v.size());
    for (size_t i = 0; i < m.size(); ++i) {
      EXPECT_TRUE(bound.Allows(m[i], v[i])) << name << " " << i;
      share = std::max(share, std::abs(double{m[i]}) / bound.Most(v[i]));
    }
    moments += static_cast<int64_t>(m.size());
  }
  EXPECT_GT(moments, 20000);
  return share;
}

struct Kind {
  const char* name;
  std::vector<std::string> sets;
};

// Steps that are skipped, clipped, scaled, and of any precision; each
// checkpoint is resumed from, so that the load's own check passes it too.
TEST(MomentCaseTest, NoRunPassesWhatItsBetasAllow) {
  const std::vector<Kind> kinds = {
      {"fp32", {"optimizer.betas=[0.95, 0.95]"}},
      {"bf16", {"precision.mode=bf16", "optimizer.clip=0"}},
      {"fp16", {"precision.mode=fp16", "precision.initial_scale=131072"}},
      {"invariant", {"guarantee=layout_invariant", "precision.mode=fp16"}},
      {"long", {"optimizer.betas=[0.9, 0.999]", "optimizer.clip=0.01"}},
      {"near", {"optimizer.betas=[0.9, 0.82]"}},
  };
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    RigOptions options = {
        .recipe = SmallRecipe(absl::StrCat("moments_", kind.name), 40),
        .sets = kind.sets,
        .steps = 8};
    options.sets.push_back("checkpoint.every=1");
    options.sets.push_back("model.hidden_dropout=0.1");
    const TrainRig rig = SmallRig(absl::StrCat("moments_", kind.name));
    for (const int64_t until : {2, 5, 8}) {
      options.until = until;
      rig.Unseed(options);
    }
    double share = 0;
    for (int64_t step = 1; step <= 8; ++step) {
      const MomentHistory history = HistoryOf(rig, step);
      ASSERT_TRUE(history.bound.has_value()) << history.why_unbounded;
      share = std::max(share, LargestShare(rig, step, *history.bound));
    }
    const uint64_t updates = CounterOf(rig, 8, "optimizer/updates");
    EXPECT_GT(updates, 1u);
    if (std::string(kind.name) == "fp16") {
      EXPECT_LT(updates, 8u) << "no step was skipped";
    }
    EXPECT_GT(share, 0.1);
    EXPECT_LE(share, 1);
    RecordProperty(absl::StrCat("largest_share_", kind.name),
                   absl::StrCat(share));
  }
}

TEST(MomentCaseTest, OtherBetasOnTheWayAndAForkAllCount) {
  RigOptions options = {.recipe = SmallRecipe("moments_changed", 40),
                        .sets = {"optimizer.betas=[0.5, 0.999]"},
                        .steps = 8,
                        .until = 4};
  const TrainRig rig = SmallRig("moments_changed");
  rig.Unseed(options);
  const double wide = HistoryOf(rig, 4).bound->Most(1.0f);
  EXPECT_NEAR(wide, std::sqrt(0.25 / (0.001 * (1 - 0.25 / 0.999))), 0.01);

  RigOptions changed = options;
  changed.sets = {"optimizer.betas=[0.9, 0.95]"};
  changed.until = 6;
  changed.allow = {"dirty", "optimizer.betas"};
  rig.Unseed(changed);
  EXPECT_EQ(HistoryOf(rig, 6).bound->Most(1.0f), wide);

  RigOptions fork = changed;
  fork.until = 7;
  fork.fork = Checkpoint(rig, 6);
  const TrainRig child = SmallRig("moments_fork");
  child.Unseed(fork);
  const MomentHistory known = HistoryOf(child, 7);
  ASSERT_TRUE(known.bound.has_value()) << known.why_unbounded;
  EXPECT_EQ(known.bound->Most(1.0f), wide);

  // Where the parent is gone nobody knows, and the launch says so.
  FileSystem& fs = *PosixFileSystem();
  ASSERT_TRUE(fs.Rename(rig.dir(), rig.dir() + "_moved").ok());
  const MomentHistory unknown = HistoryOf(child, 7);
  EXPECT_FALSE(unknown.bound.has_value());
  EXPECT_TRUE(absl::StrContains(unknown.why_unbounded, "forked from"))
      << unknown.why_unbounded;
  testing::internal::CaptureStderr();
  fork.fork = "";
  fork.until = 8;
  child.Unseed(fork);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(absl::StrContains(told, "only checked to be numbers: the run"))
      << told;
}

// Its manifest has every change of betas that was allowed, and of a fork not
// those that nobody was asked for.
TEST(MomentCaseTest, ACheckpointWithoutItsRunSaysWhatWasAllowed) {
  RigOptions options = {.recipe = SmallRecipe("moments_alone", 40),
                        .sets = {"optimizer.betas=[0.5, 0.999]"},
                        .steps = 8,
                        .until = 2};
  const TrainRig rig = SmallRig("moments_alone");
  rig.Unseed(options);
  const double wide = HistoryOf(rig, 2).bound->Most(1.0f);
  options.sets = {"optimizer.betas=[0.9, 0.95]"};
  options.allow = {"dirty", "optimizer.betas"};
  for (const int64_t until : {3, 4}) {
    options.until = until;
    rig.Unseed(options);
  }
  RigOptions fork = options;
  fork.until = 5;
  fork.fork = Checkpoint(rig, 4);
  const TrainRig child = SmallRig("moments_alone_fork");
  child.Unseed(fork);

  FileSystem& fs = *PosixFileSystem();
  const auto alone = [&](const TrainRig& of, int64_t step) {
    const std::string to = absl::StrCat(of.dir(), "_alone_", step);
    EXPECT_TRUE(fs.Rename(Checkpoint(of, step), to).ok());
    return MomentHistoryOf(fs, to);
  };
  const MomentHistory known = alone(rig, 4);
  ASSERT_TRUE(known.bound.has_value()) << known.why_unbounded;
  EXPECT_EQ(known.bound->Most(1.0f), wide);
  const MomentHistory unknown = alone(child, 5);
  EXPECT_FALSE(unknown.bound.has_value());
  EXPECT_TRUE(absl::StrContains(unknown.why_unbounded, "is not around it"))
      << unknown.why_unbounded;
}

TEST(MomentCaseTest, NoBoundIsSaidOnce) {
  const RigOptions options = {.recipe = SmallRecipe("moments_none", 40),
                              .sets = {"optimizer.betas=[0.9, 0.5]"},
                              .steps = 8,
                              .until = 2};
  const TrainRig rig = SmallRig("moments_none");
  rig.Unseed(options);
  const MomentHistory none = HistoryOf(rig, 2);
  EXPECT_FALSE(none.bound.has_value());
  EXPECT_TRUE(absl::StrContains(none.why_unbounded, "beta1 whose square"));
}

}  // namespace
}  // namespace lockstep
