// A load starts from poison, in whole runs as well: what it did not come to is
// seen, and what it came to is the unbroken run.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/load.h"
#include "ckpt/save.h"
#include "determinism/file_system.h"
#include "determinism/state.h"
#include "determinism/status.h"
#include "tests/cases/own_stepper.h"
#include "tests/cases/small_run.h"
#include "tools/metrics.h"
#include "tools/restore.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr int64_t kStop = 3;
constexpr int64_t kSteps = 6;

class PoisonTest : public testing::TestWithParam<std::string> {
 protected:
  RigOptions Options(const std::string& name) const {
    return {.recipe = SmallRecipe(name + GetParam(), 40),
            .sets = {"model.hidden_dropout=0.1", "guarantee=layout_invariant",
                     "precision.mode=" + GetParam()},
            .steps = kSteps,
            .threads = 1};
  }
  std::string Saved(const TrainRig& rig) const {
    return absl::StrCat(rig.dir(), "/checkpoints/step_0000000", kStop);
  }
};

// Every entry of every group differs from what it was, and then the load and
// the steps after it know nothing of either.
TEST_P(PoisonTest, AResumeFromPoisonIsTheUnbrokenRun) {
  RigOptions options = Options("poison_");
  const TrainRig straight = SmallRig("poison_straight_" + GetParam());
  straight.Unseed(options);
  const TrainRig rig = SmallRig("poison_" + GetParam());
  options.until = kStop;
  rig.Unseed(options);

  OwnStepper stepper(options, rig.dir());
  stepper.Step();
  const auto before = StateTensorFingerprints(stepper->registry(), kAllState);
  PoisonState(stepper->registry());
  const auto poisoned = StateTensorFingerprints(stepper->registry(), kAllState);
  ASSERT_EQ(before.size(), poisoned.size());
  EXPECT_GT(before.size(), 100u);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_NE(before[i].value.Hex(), poisoned[i].value.Hex()) << before[i].name;
  }
  stepper.Load(Saved(rig));
  for (int64_t step = kStop; step < kSteps; ++step) {
    Json line = Json::parse(MetricsLine(stepper.Step()));
    for (const char* timing : {"step_ms", "tokens_per_s", "mfu"}) {
      line.erase(timing);
    }
    EXPECT_EQ(line, Json::parse(straight.Metrics()[size_t(step)]));
  }
}

// An entry that one visit gets a copy of, which comes to nothing.
class Forgetful : public Stateful {
 public:
  explicit Forgetful(StateRegistry& registry)
      : Stateful(registry, "forgetful") {}

  void Forget(int visit) { until_ = visit; }
  void VisitState(StateVisitor& visitor) override {
    visitor.U64("value", StateGroup::kCounter,
                until_-- == 0 ? (copy_ = value_) : value_);
  }

 private:
  uint64_t value_ = 7;
  uint64_t copy_ = 0;
  int until_ = -1;
};

// Canary: memory that happens to hold what was saved hides that a load left the
// entry out; the poison of a resume shows it.
TEST_P(PoisonTest, CanaryAnEntryThatTheLoadLeavesOutIsSeen) {
  RigOptions options = Options("forgets_");
  const TrainRig rig = SmallRig("forgets_" + GetParam());
  options.until = kStop;
  rig.Unseed(options);
  FileSystem& fs = *PosixFileSystem();
  OwnStepper saver(options, rig.dir());
  saver.Load(Saved(rig));
  const Forgetful whole(saver->registry());
  const auto saved =
      SaveCheckpoint(fs,
                     {.run_dir = rig.dir(),
                      .step = kStop + 1,
                      .run_id = "forgetful",
                      .manifest_json = rig.Read(absl::StrCat(
                          "checkpoints/step_0000000", kStop, "/manifest.json")),
                      .ledger_head = ""},
                     saver->registry());
  ASSERT_TRUE(saved.ok()) << saved.status();

  OwnStepper loader(options, rig.dir());
  Forgetful entry(loader->registry());
  EXPECT_TRUE(RestoreStepper(fs, *loader, saved->dir).ok());
  entry.Forget(0);  // the load's visit is the first
  EXPECT_TRUE(LoadCheckpoint(fs, saved->dir, loader->registry()).ok());
  entry.Forget(1);  // the poison's is
  const absl::Status seen = RestoreStepper(fs, *loader, saved->dir).status();
  EXPECT_EQ(ExitCodeFor(seen), 4) << seen;
  EXPECT_NE(seen.message().find("forgetful/value has fingerprint"),
            std::string::npos)
      << seen;
}

INSTANTIATE_TEST_SUITE_P(Precisions, PoisonTest,
                         testing::Values("fp32", "bf16", "fp16"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace lockstep
