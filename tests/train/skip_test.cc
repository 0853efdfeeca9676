// Samples that a run passes over: exactly these, from their adoption on, and
// wherever the run stops.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/order.h"
#include "tests/train/data_for_test.h"
#include "tests/train/skip_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

TEST(SkipRunTest, ExactlyTheseSamplesAreLeftOut) {
  const TrainRig rig("skip_exact");
  rig.Unseed({.recipe = SmallEpochs(),
              .steps = 4,
              .skip_samples = {"8-15", "3-3", "20-24", "23-26", "32-47"}});
  ExpectRead(rig, {{0, 1, 2, 4, 5, 6, 7, 16},
                   {17, 18, 19, 27, 28, 29, 30, 31},
                   {48, 49, 50, 51, 52, 53, 54, 55},
                   {56, 57, 58, 59, 60, 61, 62, 63}});
}

// Samples of 32 tokens that all begin with the same one, so that a sample's
// last label is the same whatever comes next: samples can change places.
std::string WriteSamples(const std::string& name,
                         const std::vector<int64_t>& contents) {
  const std::string prefix = testing::TempDir() + "/" + name;
  auto writer =
      TokenFileWriter::Create(*PosixFileSystem(), prefix, 257, 1 << 20);
  EXPECT_TRUE(writer.ok());
  for (const int64_t content : contents) {
    std::vector<int32_t> tokens(kSequence);
    for (int64_t k = 1; k < kSequence; ++k) {
      tokens[static_cast<size_t>(k)] = static_cast<int32_t>(
          (content * 29 + k * k * (content % 7 + 1)) % 257);
    }
    EXPECT_TRUE((*writer)->Append(tokens).ok());
  }
  EXPECT_TRUE((*writer)->Append(std::vector<int32_t>{0}).ok());
  EXPECT_TRUE((*writer)->EndDocument().ok());
  EXPECT_TRUE((*writer)->Append(std::vector<int32_t>(45, 7)).ok());
  EXPECT_TRUE((*writer)->EndDocument().ok());
  EXPECT_TRUE((*writer)->Finish().ok());
  return prefix;
}

// Where dropout, which belongs to global indices, is off, a run that skips is
// the run over data whose order never had these samples.
TEST(SkipRunTest, ItIsTheRunWhoseOrderNeverHadThem) {
  constexpr uint64_t kSamples = 97;
  std::vector<int64_t> all(kSamples), without(kSamples, 1000);
  uint64_t kept = 0;
  for (uint64_t g = 0; g < kSamples; ++g) {
    const uint64_t sample = SampleAt(1, 0, kSamples, g);
    all[sample] = static_cast<int64_t>(sample);
    if ((g >= 8 && g <= 15) || (g >= 20 && g <= 22)) continue;
    without[SampleAt(1, 0, kSamples, kept++)] = static_cast<int64_t>(sample);
  }
  const std::string data = "validation_fraction = 0.01\n";
  const TrainRig skips("skip_all"), never("skip_never");
  skips.Unseed({.recipe = WriteRecipe("skip_all",
                                      data + Source(WriteSamples("all", all))),
                .skip_samples = {"8-15", "20-22"}});
  never.Unseed(
      {.recipe = WriteRecipe("skip_never",
                             data + Source(WriteSamples("without", without)))});
  const std::vector<Json> a = Steps(skips), b = Steps(never);
  ASSERT_EQ(a.size(), 6u);
  ASSERT_EQ(b.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    for (const char* field :
         {"loss_bits", "grad_norm_bits", "lr_bits", "samples_seen"}) {
      EXPECT_EQ(a[i][field], b[i][field]) << field << " of step " << i + 1;
    }
    for (const char* field : {"grads", "params", "optimizer"}) {
      EXPECT_EQ(a[i]["fingerprint"][field], b[i]["fingerprint"][field])
          << field << " of step " << i + 1;
    }
    // Keyed by global index: it tells the two apart from step 2 on.
    EXPECT_EQ(a[i]["fingerprint"]["data"] == b[i]["fingerprint"]["data"],
              i == 0);
  }
}

// Whole batches, overlaps and an epoch, adopted at the start; the flag is given
// once and never again.
TEST(SkipRunTest, AStopAtAnyStepChangesNothing) {
  RigOptions options = {
      .recipe = SmallEpochs(),
      .sets = {"model.hidden_dropout=0.1"},
      .steps = kSteps,
      .skip_samples = {"8-15", "3-3", "20-24", "23-26", "32-47", "70-75"}};
  const TrainRig unbroken("skip_unbroken");
  const std::string unseed = unbroken.Unseed(options);
  const auto metrics = unbroken.Metrics();
  ASSERT_EQ(metrics.size(), static_cast<size_t>(kSteps));
  for (int64_t stop = 1; stop < kSteps; ++stop) {
    const TrainRig rig(absl::StrCat("skip_stop", stop));
    RigOptions part = options;
    part.until = stop;
    rig.Unseed(part);
    part.until.reset();
    if (stop % 2 == 0) part.skip_samples.clear();
    EXPECT_EQ(rig.Unseed(part), unseed) << "stopped after " << stop;
    EXPECT_EQ(rig.Metrics(), metrics) << "stopped after " << stop;
    EXPECT_EQ(SkipEvents(rig).size(), 6u) << "asked again is no adoption";
  }
}

TEST(SkipRunTest, ARangeThatIsPastHasNoEffectAndIsOnRecord) {
  const RigOptions plain = {.recipe = SmallEpochs(), .steps = 4};
  const TrainRig rig("skip_past"), other("skip_past_plain");
  RigOptions part = plain;
  part.until = 2;
  rig.Unseed(part);
  RigOptions late = plain;
  late.skip_samples = {"3-15"};
  testing::internal::CaptureStderr();
  const std::string unseed = rig.Unseed(late);
  EXPECT_TRUE(absl::StrContains(testing::internal::GetCapturedStderr(),
                                "samples 3 to 15, adopted at sample 16: no "
                                "effect"));
  EXPECT_EQ(unseed, other.Unseed(plain));
  EXPECT_EQ(rig.Metrics(), other.Metrics());
  ASSERT_EQ(SkipEvents(rig).size(), 1u);
  EXPECT_EQ(SkipEvents(rig)[0]["samples"], 0);
}

// 8 a step until 12 are consumed, then 4, whatever was passed over.
TEST(SkipRunTest, ABatchScheduleCountsWhatWasConsumed) {
  const TrainRig rig("skip_batches");
  rig.Unseed({.recipe = SmallEpochs(),
              .sets = {"batch.schedule=0:8,12:4"},
              .steps = 4,
              .skip_samples = {"0-11", "30-30"}});
  ExpectRead(rig, {{12, 13, 14, 15, 16, 17, 18, 19},
                   {20, 21, 22, 23, 24, 25, 26, 27},
                   {28, 29, 31, 32},
                   {33, 34, 35, 36}});
}

}  // namespace
}  // namespace lockstep
