// The learning rate over resumes: restored once, never rebuilt, never bent.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
  options.allow = {"dirty", "schedule", "schedule_length_samples"};
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

}  // namespace
}  // namespace lockstep
