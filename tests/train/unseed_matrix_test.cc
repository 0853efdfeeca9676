// N1 and N12 on whole runs: what must not change a bit does not.
//
// Every run below has the unbroken run's metrics, all fields but the clock's.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

std::string NameOfMode(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

// Modes: a precision, and dropout so that random numbers matter.
std::vector<std::string> SetsOf(const std::string& mode) {
  if (mode == "fp32_dropout") {
    return {"precision.mode=fp32", "model.hidden_dropout=0.1"};
  }
  return {absl::StrCat("precision.mode=", mode)};
}

class UnseedMatrixTest : public testing::TestWithParam<std::string> {
 protected:
  RigOptions Options(const std::vector<std::string>& more = {}) const {
    RigOptions options;
    options.sets = SetsOf(GetParam());
    options.sets.insert(options.sets.end(), more.begin(), more.end());
    return options;
  }
  std::string Name(const std::string& what) const {
    return GetParam() + "_" + what;
  }
  void SetUp() override {
    reference_unseed_ = reference_.Unseed(Options());
    reference_metrics_ = reference_.Metrics();
    ASSERT_EQ(reference_metrics_.size(), 6u);
  }
  void ExpectEqual(const std::string& what, const RigOptions& options) const {
    const TrainRig rig(Name(what));
    EXPECT_EQ(rig.Unseed(options), reference_unseed_) << what;
    EXPECT_EQ(rig.Metrics(), reference_metrics_) << what;
  }

  TrainRig reference_{Name("reference")};
  std::string reference_unseed_;
  std::vector<std::string> reference_metrics_;
};

TEST_P(UnseedMatrixTest, N1ARerunIsEqual) { ExpectEqual("rerun", Options()); }

TEST_P(UnseedMatrixTest, N1ThreadsDoNotMatter) {
  for (const int64_t threads : {1, 3, 8}) {
    RigOptions options = Options();
    options.threads = threads;
    ExpectEqual(absl::StrCat("threads", threads), options);
  }
}

TEST_P(UnseedMatrixTest, N1MicroBatchesDoNotMatter) {
  for (const int64_t micro : {1, 4, 8}) {
    ExpectEqual(absl::StrCat("micro", micro),
                Options({absl::StrCat("batch.micro=", micro)}));
  }
}

TEST_P(UnseedMatrixTest, N12RecomputationDoesNotMatter) {
  ExpectEqual("recompute", Options({"train.recompute=true"}));
}

// marin-community/marin#7712: an evaluation changed later training.
TEST_P(UnseedMatrixTest, N12EvaluationDoesNotMatter) {
  ExpectEqual("eval", Options({"eval.every=2"}));
}

TEST_P(UnseedMatrixTest, N12SavingDoesNotMatter) {
  ExpectEqual("save_each", Options({"checkpoint.every=1"}));
  ExpectEqual("save_never", Options({"checkpoint.every=0"}));
}

TEST_P(UnseedMatrixTest, N12TracingDoesNotMatter) {
  for (const char* level : {"step", "phase", "module", "operation", "kernel"}) {
    ExpectEqual(absl::StrCat("trace_", level),
                Options({absl::StrCat("trace.level=", level),
                         "checkpoint.every=2", "trace.values=sample"}));
  }
}

TEST_P(UnseedMatrixTest, N12FingerprintsDoNotMatter) {
  const TrainRig rig(Name("no_fingerprints"));
  EXPECT_EQ(rig.Unseed(Options({"metrics.fingerprints=false"})),
            reference_unseed_);
}

// Canaries: what must matter does, so equality above is not vacuous.
TEST_P(UnseedMatrixTest, CanaryASeedMatters) {
  const TrainRig rig(Name("seed"));
  EXPECT_NE(rig.Unseed(Options({"seed=2"})), reference_unseed_);
}

TEST_P(UnseedMatrixTest, CanaryOneFlippedBitMatters) {
  const TrainRig rig(Name("flip"));
  RigOptions options = Options();
  options.faults = {
      "kind=flip,step=3,at=layers.2.mixer.in_proj.forward,element=123,bit=9"};
  EXPECT_NE(rig.Unseed(options), reference_unseed_);
}

INSTANTIATE_TEST_SUITE_P(Modes, UnseedMatrixTest,
                         testing::Values("fp32", "bf16", "fp16",
                                         "fp32_dropout"),
                         NameOfMode);

TEST(UnseedCanaryTest, PrecisionsDiffer) {
  const TrainRig fp32("precision_fp32"), bf16("precision_bf16");
  EXPECT_NE(fp32.Unseed({.sets = {"precision.mode=fp32"}}),
            bf16.Unseed({.sets = {"precision.mode=bf16"}}));
}

}  // namespace
}  // namespace lockstep
