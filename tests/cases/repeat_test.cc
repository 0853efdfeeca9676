// The same step, again and again: every operation gives the same bits.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/cases/small_run.h"
#include "tools/trace_verbs.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

std::string TraceOf(const TrainRig& rig, const RigOptions& options) {
  rig.Unseed(options);
  return rig.Read("traces/rank_0.step_00000000.trace");
}

// The trace as `trace show` prints it, for scripts and for people.
std::string Shown(const std::string& run) {
  TraceShowOptions show;
  show.file = absl::StrCat(testing::TempDir(), "/", run,
                           "/traces/rank_0.step_00000000.trace");
  std::string text;
  for (const bool json : {true, false}) {
    show.json = json;
    const auto answer = TraceShowVerb(show);
    EXPECT_TRUE(answer.ok()) << std::string(answer.status().message());
    if (answer.ok()) absl::StrAppend(&text, answer->text);
  }
  return text;
}

// One of three gradients differed between identical calls, under a flag that
// promised it would not (Dao-AILab/flash-attention#414,
// Dao-AILab/flash-attention#2244); sums by atomics, and tiles chosen by a timer
// (state-spaces/mamba#827, state-spaces/mamba#1043). Two steps, twenty times,
// on 1 to 16 threads, while other threads keep the machine busy: the
// fingerprints of all operations' inputs and outputs are the same bytes.
TEST(RepeatCaseTest, EveryOperationRepeatsToTheBitUnderLoad) {
  for (const char* mode : {"fp32", "bf16"}) {
    const std::string name = absl::StrCat("repeat_", mode);
    RigOptions options = {
        .recipe = SmallRecipe(name, 24),
        .sets = {absl::StrCat("precision.mode=", mode), "trace.level=operation",
                 "model.hidden_dropout=0.1"},
        .steps = 8,
        .threads = 1,
        .until = 2};
    const std::string want = TraceOf(SmallRig(name), options);
    std::atomic<bool> done = false;
    std::vector<std::thread> load;
    for (int i = 0; i < 2; ++i) {
      load.emplace_back([&done] {
        while (!done) std::this_thread::yield();
      });
    }
    int64_t equal = 0;
    for (int repeat = 0; repeat < 20; ++repeat) {
      options.threads = int64_t{1} << repeat % 5;
      const std::string got =
          TraceOf(SmallRig(absl::StrCat(name, repeat)), options);
      equal += got == want ? 1 : 0;
    }
    done = true;
    for (std::thread& thread : load) thread.join();
    EXPECT_EQ(equal, 20) << mode;
    const std::string shown = Shown(name);
    for (int repeat = 0; repeat < 20; repeat += 7) {
      EXPECT_EQ(Shown(absl::StrCat(name, repeat)), shown);
    }
    EXPECT_NE(shown.find("\"fields\":{\"data\":"), std::string::npos);
    const std::vector<std::string> records =
        absl::StrSplit(shown, '\n', absl::SkipEmpty());
    EXPECT_GT(records.size(), 100u);
    // Another seed is another trace, so equal ones say something.
    options.sets.push_back("seed=2");
    EXPECT_NE(TraceOf(SmallRig(name + "_seed"), options), want);
  }
}

}  // namespace
}  // namespace lockstep
