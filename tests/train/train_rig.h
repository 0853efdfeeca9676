// A rig that trains recipes/debug.toml as a user would, in this process.
//
// What it is: the train verb in a temporary folder, and a run's metrics.jsonl
// without the three fields that measure time. What it is not: a mock: files,
// lock, ledger and checkpoints are the real ones. Why so: "equal" between runs
// means what the interface says, all other fields of every line.
#ifndef LOCKSTEP_TESTS_TRAIN_TRAIN_RIG_H_
#define LOCKSTEP_TESTS_TRAIN_TRAIN_RIG_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/verbs.h"

namespace lockstep {

// What to run; the recipe is debug.toml, or one that extends it, with a few
// small sizes.
struct RigOptions {
  std::string recipe = "recipes/debug.toml";
  std::vector<std::string> sets = {};
  int64_t steps = 6;
  int64_t threads = 2;
  int64_t ranks = 1;
  std::optional<int64_t> until = std::nullopt;
  std::string resume = "auto";
  std::vector<std::string> allow = {"dirty"};
  std::string reason = "a test";
  std::vector<std::string> faults = {};
  std::string fork = "";
  std::vector<std::string> skip_samples = {};
};

struct RigResult {
  absl::Status status;
  std::string unseed;
};

class TrainRig {
 public:
  enum Sizes { kSmall, kAsShipped, kOfRecipe };

  // A fresh folder below the test's temporary one. kAsShipped trains debug.toml
  // without the rig's smaller sizes, steps included; kOfRecipe with the rig's
  // steps and nothing else.
  explicit TrainRig(const std::string& name, Sizes sizes = kSmall);

  RigResult Train(const RigOptions& options) const;
  // Trains and expects success.
  std::string Unseed(const RigOptions& options) const;
  // Trains in a child process that one of the faults kills, and expects that it
  // died of SIGKILL. Nothing it had in memory is left.
  void TrainUntilKilled(const RigOptions& options) const;

  // Lines of metrics.jsonl without step_ms, tokens_per_s and mfu.
  std::vector<std::string> Metrics() const;
  std::string Read(const std::string& file) const;
  void Write(const std::string& file, const std::string& contents) const;
  bool Exists(const std::string& file) const;
  std::vector<std::string> List(const std::string& folder) const;
  const std::string& dir() const { return dir_; }

 private:
  std::string dir_;
  Sizes sizes_;
};

// EXPECT_TRUE(SameLines(got, want)): how many lines agree, or the first that
// does not, from where it differs. Comparing nothing fails.
testing::AssertionResult SameLines(const std::vector<std::string>& got,
                                   const std::vector<std::string>& want);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_TRAIN_TRAIN_RIG_H_
