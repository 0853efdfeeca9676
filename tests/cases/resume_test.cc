// What a resume must bring back, case by case.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/cases/small_run.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Random numbers came back from a checkpoint inside an epoch and not from one
// at its end (huggingface/transformers#17032). An epoch is 6 steps here.
TEST(ResumeCaseTest, AnEpochsEndIsAPlaceToStopLikeAnyOther) {
  const RigOptions options = {.recipe = SmallRecipe("boundary", 24),
                              .sets = {"model.hidden_dropout=0.1"},
                              .steps = 12};
  const TrainRig unbroken = SmallRig("boundary_unbroken");
  unbroken.Unseed(options);
  int64_t lines = 0;
  for (const int64_t stop : {5, 6, 7, 9}) {
    lines += ExpectUnbroken(absl::StrCat("boundary", stop), options, {stop},
                            unbroken);
  }
  EXPECT_EQ(lines, 4 * 12);
}

// Set-up code that ran after the load seeded the generators again
// (modelscope/ms-swift#9935). A launch that only loads must end in the state
// that was saved, whatever it sets up: `unseed` covers all of it.
TEST(ResumeCaseTest, NothingMovesStateBetweenLoadAndFirstStep) {
  const TrainRig rig = SmallRig("only_load");
  RigOptions options = {.recipe = SmallRecipe("only_load", 24),
                        .sets = {"model.hidden_dropout=0.1"},
                        .steps = 6};
  for (options.until = 1; *options.until <= 6; ++*options.until) {
    const std::string saved = rig.Unseed(options);
    RigOptions again = options;
    again.sets.insert(again.sets.end(),
                      {"trace.level=operation", "eval.every=1"});
    for (again.threads = 1; again.threads <= 3; ++again.threads) {
      EXPECT_EQ(rig.Unseed(again), saved) << *options.until;
    }
    EXPECT_EQ(Lines(rig).back()["fingerprint"]["state"], saved);
  }
  EXPECT_EQ(rig.Metrics().size(), 6u);
}

// The saved end of an epoch was read back as another point than the start of
// the next (meta-pytorch/data#1437). Whatever generation wrote it, a step's
// checkpoint holds the same entries, field by field.
TEST(ResumeCaseTest, ACheckpointIsTheSameWhicheverGenerationWroteIt) {
  const RigOptions options = {
      .recipe = SmallRecipe("fields", 24),
      .sets = {"checkpoint.every=1", "model.hidden_dropout=0.1"},
      .steps = 12};
  const TrainRig unbroken = SmallRig("fields_unbroken");
  unbroken.Unseed(options);
  const TrainRig rig = SmallRig("fields_resumed");
  RigOptions part = options;
  for (const int64_t stop : {1, 6, 7, 12}) {
    part.until = stop;
    rig.Unseed(part);
  }
  size_t compared = 0;
  for (int64_t step = 1; step <= 12; ++step) {
    const auto want = EntriesOf(unbroken, step), got = EntriesOf(rig, step);
    EXPECT_EQ(got, want) << "step " << step;
    compared += want.size();
  }
  EXPECT_GT(compared, 12u * 50);
}

// A stream's position was read from a stale object: the first resume was right
// and the second began again (pytorch/torchtitan#3907,
// huggingface/datasets#8308).
TEST(ResumeCaseTest, TheSavedCursorIsWhatWasConsumedInEveryGeneration) {
  const TrainRig rig = SmallRig("cursor"), unbroken = SmallRig("cursor_whole");
  RigOptions options = {.recipe = SmallRecipe("cursor", 10), .steps = 12};
  unbroken.Unseed(options);
  for (const int64_t stop : {3, 6, 9, 12}) {
    options.until = stop;
    rig.Unseed(options);
    for (const char* counter :
         {"run/cursor", "run/samples_seen", "run/update_samples"}) {
      EXPECT_EQ(CounterOf(rig, stop, counter), 4u * stop) << counter;
    }
    EXPECT_EQ(CounterOf(rig, stop, "run/iterations"), 1u * stop);
  }
  EXPECT_TRUE(SameLines(rig.Metrics(), unbroken.Metrics()));
}

// An evaluation in the middle sent training off its course
// (marin-community/marin#7712): evaluating, saving and writing things down
// leave no trace in the run.
TEST(ResumeCaseTest, FourWaysToWatchARunAreOneTrajectory) {
  const RigOptions options = {.recipe = SmallRecipe("watched", 24),
                              .sets = {"model.hidden_dropout=0.1"},
                              .steps = 12};
  const TrainRig plain = SmallRig("watched_not");
  const std::string unseed = plain.Unseed(options);
  size_t evaluations = 0;
  for (const char* watch : {"eval.every=3", "checkpoint.every=1",
                            "trace.level=operation", "eval.every=1"}) {
    const TrainRig rig = SmallRig(absl::StrCat("watched_", watch));
    RigOptions more = options;
    more.sets.push_back(watch);
    EXPECT_EQ(rig.Unseed(more), unseed) << watch;
    EXPECT_TRUE(SameLines(rig.Metrics(), plain.Metrics())) << watch;
    if (!rig.Exists("eval.jsonl")) continue;
    const std::vector<std::string> lines =
        absl::StrSplit(rig.Read("eval.jsonl"), '\n', absl::SkipEmpty());
    evaluations += lines.size();
  }
  EXPECT_EQ(evaluations, 4u + 12u);
  const TrainRig silent = SmallRig("watched_silent");
  RigOptions less = options;
  less.sets.push_back("metrics.fingerprints=false");
  EXPECT_EQ(silent.Unseed(less), unseed);
  std::vector<std::string> got, want;
  for (const Json& line : Lines(silent)) got.push_back(line.dump());
  for (Json line : Lines(plain)) {
    line.erase("fingerprint");
    want.push_back(line.dump());
  }
  EXPECT_TRUE(SameLines(got, want));
}

// Resume was exact until the vocabulary did not divide
// (pytorch/torchtitan#1136). On one rank: sizes that no block divides.
TEST(ResumeCaseTest, OddVocabulariesResumeExactly) {
  int64_t lines = 0;
  for (const int64_t vocab : {257, 259, 301, 320, 383}) {
    const std::string name = absl::StrCat("vocab", vocab);
    const RigOptions options = {.recipe = SmallRecipe(name, 24),
                                .sets = {absl::StrCat("model.vocab=", vocab)},
                                .steps = 6};
    const TrainRig unbroken = SmallRig(name + "_unbroken");
    unbroken.Unseed(options);
    lines += ExpectUnbroken(name, options, {2, 5}, unbroken);
    const Json shape = Json::parse(
        EntriesOf(unbroken, 6).at("parameters/lm_head.weight.master"))["shape"];
    EXPECT_EQ(shape[0], vocab);
  }
  EXPECT_EQ(lines, 5 * 6);
}

}  // namespace
}  // namespace lockstep
