// A finished run to fork from, for tests.
//
// What it is: seven steps in fp16 with dropout and a spike that is skipped, so
// that a fork from step 2 has all kinds of state to take over. What it is not:
// a short cut: parent and forks are trained through the verb.
#ifndef LOCKSTEP_TESTS_RUNS_FORK_RIG_H_
#define LOCKSTEP_TESTS_RUNS_FORK_RIG_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {

inline constexpr char kStep2[] = "/checkpoints/step_00000002";

// A parent of six steps, with dropout, a spike that is skipped after the fork's
// step, and fp16: all of the state that a fork must take over.
class ForkTest : public testing::Test {
 protected:
  static RigOptions Options() {
    RigOptions options;
    options.steps = 7;
    options.sets = {"precision.mode=fp16",
                    "precision.initial_scale=1024",
                    "model.hidden_dropout=0.1",
                    "checkpoint.every=2",
                    "spike.action=skip",
                    "spike.window=4",
                    "spike.warmup=4"};
    options.faults = {"kind=spike,step=6,at=lm_head.loss.forward"};
    return options;
  }
  static RigOptions Fork(const std::string& of) {
    RigOptions options = Options();
    options.fork = of;
    return options;
  }
  using Lines = std::vector<std::string>;
  static Lines After(const Lines& lines, size_t step) {
    return {lines.begin() + static_cast<ptrdiff_t>(step), lines.end()};
  }
  static nlohmann::json Manifest(const TrainRig& rig,
                                 const std::string& folder = "") {
    return nlohmann::json::parse(rig.Read(folder + "manifest.json"));
  }
  void Refused(const TrainRig& rig, const RigOptions& options, int code,
               const std::string& pattern) const {
    const RigResult result = rig.Train(options);
    EXPECT_EQ(ExitCodeFor(result.status), code) << result.status.message();
    EXPECT_TRUE(absl::StrContains(result.status.message(), pattern))
        << pattern << ": " << result.status.message();
    EXPECT_FALSE(rig.Exists("manifest.json"));
  }
  void SetUp() override {
    unseed_ = parent_.Unseed(Options());
    metrics_ = parent_.Metrics();
    EXPECT_TRUE(absl::StrContains(metrics_[5], "\"spike\":\"loss\""));
  }

  TrainRig parent_{"parent"};
  std::string ckpt_ = parent_.dir() + kStep2;
  std::string unseed_;
  Lines metrics_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_RUNS_FORK_RIG_H_
