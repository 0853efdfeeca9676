// The learning rate over resumes: restored once, never rebuilt, never bent.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// The recipe's curve after `samples` samples, from its definition: warm-up over
// 4 steps of 4 to 3e-3, then a cosine to 3e-4 at `length`.
double Curve(double samples, double length) {
  constexpr double kPeak = 3e-3, kEnd = 3e-4, kWarmup = 16,
                   kPi = 3.14159265358979323846;
  if (samples <= kWarmup) return kPeak * samples / kWarmup;
  if (samples >= length) return kEnd;
  const double x = (samples - kWarmup) / (length - kWarmup);
  return kEnd + (kPeak - kEnd) * 0.5 * (1 + std::cos(kPi * x));
}

void ExpectOnCurve(const TrainRig& rig, double length) {
  for (const Json& line : Lines(rig)) {
    const double want = Curve(line["samples_seen"], length);
    // A few roundings of numbers below the peak.
    EXPECT_NEAR(line["lr"].get<double>(), want, 3e-3 * 16 * 0x1p-52)
        << "step " << line["step"];
  }
}

// The loader moved the schedule on, and so did its caller (THUDM/slime#1546).
TEST(CurveCaseTest, TheRateIsTheFormulasAfterOneTwoAndThreeResumes) {
  const RigOptions options = {.recipe = SmallRecipe("formula", 24),
                              .steps = 12};
  const TrainRig unbroken = SmallRig("formula_unbroken");
  unbroken.Unseed(options);
  ExpectOnCurve(unbroken, 48);
  int64_t lines = 0;
  std::vector<int64_t> stops;
  for (const int64_t stop : {3, 4, 9}) {
    stops.push_back(stop);
    const std::string name = absl::StrCat("formula", stop);
    lines += ExpectUnbroken(name, options, stops, unbroken);
  }
  EXPECT_EQ(lines, 3 * 12);
}

// A longer run at a resume rebuilt the cosine over another length, so that the
// rate fell and rose again, or warmed up anew (Nerogar/OneTrainer#1604,
// vllm-project/speculators#900). The recipe names no length here: it is the
// run's own, of 12 steps, once and for all.
TEST(CurveCaseTest, ALongerRunKeepsTheCurveItBeganWith) {
  const TrainRig rig = SmallRig("bent");
  RigOptions options = {.recipe = SmallRecipe("bent", 24), .steps = 12};
  rig.Unseed(options);
  const std::vector<std::string> before = rig.Metrics();
  options.steps = 20;
  rig.Unseed(options);
  ExpectOnCurve(rig, 48);
  std::vector<std::string> after = rig.Metrics();
  ASSERT_EQ(after.size(), 20u);
  after.resize(12);
  EXPECT_TRUE(SameLines(after, before));
}

// Bending it takes a word, which stays on record.
TEST(CurveCaseTest, AnotherCurveIsRefusedUnlessAllowed) {
  const TrainRig rig = SmallRig("override");
  RigOptions options = {.recipe = SmallRecipe("override", 24), .steps = 12};
  rig.Unseed(options);
  options.steps = 20;
  options.sets = {"schedule.length=20"};
  const RigResult refused = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(refused.status), 3);
  EXPECT_TRUE(absl::StrContains(refused.status.message(), "schedule"))
      << refused.status.message();
  EXPECT_EQ(rig.Metrics().size(), 12u);
  options.allow = {"dirty", "schedule.length"};
  options.reason = "eight steps more";
  rig.Unseed(options);
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "eight steps more"));
  const std::vector<Json> lines = Lines(rig);
  ASSERT_EQ(lines.size(), 20u);
  for (size_t i = 12; i < 20; ++i) {
    EXPECT_NEAR(lines[i]["lr"].get<double>(), Curve(4.0 * (i + 1), 80),
                3e-3 * 16 * 0x1p-52);
  }
}

// How often `word` is in the message of a refused launch.
int64_t TimesInRefusal(const TrainRig& rig, const RigOptions& options,
                       const std::string& word) {
  const RigResult refused = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(refused.status), 3);
  const std::vector<std::string> parts =
      absl::StrSplit(refused.status.message(), word);
  return static_cast<int64_t>(parts.size()) - 1;
}

// A curve counted in steps is another one under another batch. That is one
// difference with one name, which stands with the batch's; once allowed, it is
// the run's, whether or not the run had saved.
TEST(CurveCaseTest, AnotherBatchUnderANamedLengthIsAskedForOnce) {
  for (const bool saved : {true, false}) {
    const TrainRig rig = SmallRig("batch_curve");
    RigOptions options = {.recipe = SmallRecipe("batch_curve", 24),
                          .sets = {"schedule.length=12", "schedule.warmup=0",
                                   "checkpoint.every=100"},
                          .steps = 12};
    if (saved) options.until = 3;
    const std::vector<std::string> kill = {"kind=kill,at=step.end,step=3"};
    RigOptions wider = options;
    wider.sets.push_back("batch.global=8");
    if (!saved) options.faults = wider.faults = kill;
    saved ? (void)rig.Unseed(options) : rig.TrainUntilKilled(options);
    // In its own line, and in what --allow is to say.
    EXPECT_EQ(TimesInRefusal(rig, wider, "schedule.length_samples"), 2);
    EXPECT_EQ(TimesInRefusal(rig, wider, "length_samples"), 2);
    wider.allow = {"dirty", "batch.global", "schedule.length_samples"};
    wider.until = saved ? std::optional<int64_t>(5) : std::nullopt;
    saved ? (void)rig.Unseed(wider) : rig.TrainUntilKilled(wider);
    options.faults = wider.faults = {};
    wider.allow = {"dirty"};
    EXPECT_EQ(TimesInRefusal(rig, options, "schedule.length_samples"), 2);
    wider.until.reset();
    rig.Unseed(wider);
    const Json manifest =
        Json::parse(rig.Read("launches/" + rig.List("launches").back()));
    EXPECT_EQ(manifest["schedule_length_samples"], 96);
    EXPECT_TRUE(absl::StrContains(std::string(manifest["recipe"]["text"]),
                                  "schedule.length_samples = 96\n"));
  }
}

// Warm-up and decay are counted in steps as well, and were not asked about; the
// length that no recipe names stays what it was.
TEST(CurveCaseTest, AnotherBatchBendsNoPartOfTheCurveInSilence) {
  const TrainRig rig = SmallRig("batch_parts");
  RigOptions options = {
      .recipe = SmallRecipe("batch_parts", 24),
      .sets = {"schedule.shape=wsd_linear", "schedule.decay=3"},
      .steps = 12,
      .until = 2};
  rig.Unseed(options);
  options.sets.push_back("batch.global=8");
  options.allow = {"dirty", "batch.global"};
  EXPECT_EQ(TimesInRefusal(rig, options, "schedule.warmup_samples"), 2);
  EXPECT_EQ(TimesInRefusal(rig, options, "schedule.decay_samples"), 2);
  EXPECT_EQ(TimesInRefusal(rig, options, "length_samples"), 0);
  options.allow.push_back("schedule");
  options.until = 3;
  rig.Unseed(options);
  options.allow = {"dirty"};
  options.until = 4;
  rig.Unseed(options);
  // 24 of 32 samples of warm-up.
  EXPECT_EQ(Lines(rig).back()["samples_seen"], 24);
  EXPECT_NEAR(Lines(rig).back()["lr"].get<double>(), 3e-3 * 24 / 32, 1e-17);
}

}  // namespace
}  // namespace lockstep
