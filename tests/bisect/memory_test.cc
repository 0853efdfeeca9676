// Memory that nobody wrote: bisect rules it out before it names a culprit, and
// names what depends on it where it cannot.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"
#include "tools/bisect/poisoned_replay.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

RigOptions Options(int64_t ranks, Words sets, Words faults = {}) {
  sets.push_back("checkpoint.every=2");
  return {.sets = std::move(sets),
          .threads = 1,
          .ranks = ranks,
          .faults = std::move(faults)};
}

Json Bisected(const TrainRig& a, const TrainRig& b) {
  const auto result =
      Bisect(*PosixFileSystem(), {.a = a.dir(), .b = b.dir(), .threads = 1});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? Json::parse(BisectJson(*result)) : Json();
}

void ExpectUnwritten(const Json& json, const std::string& operation,
                     int replays = 2) {
  EXPECT_EQ(json["verdict"], "unwritten_memory") << json;
  EXPECT_EQ(json["operation"], operation) << json;
  EXPECT_EQ(json["odd_one"], "b");
  EXPECT_EQ(json["sound_memory"], false);
  EXPECT_EQ(json["repeatable"], false);
  EXPECT_LE(json["replays"], replays);
  EXPECT_NE(json["cause"].get<std::string>().find("before it is written"),
            std::string::npos)
      << json["cause"];
}

constexpr char kUnwritten[] =
    "kind=unwritten,step=4,element=300,at=layers.0.mixer.conv1d.forward";

// Zeros, as luck has it: both runs recur, and a trace says that the operation
// was given the same and left something else. It is no other program's.
TEST(UnwrittenMemoryTest, IsNotTakenForACulprit) {
  const std::vector<std::pair<int64_t, Words>> kinds = {
      {1, {}},
      {1, {"precision.mode=bf16"}},
      {2, {"parallel.tensor=2", "guarantee=layout_invariant"}}};
  for (const auto& [ranks, sets] : kinds) {
    const TrainRig a("memory_a"), b("memory_b");
    a.Unseed(Options(ranks, sets));
    b.Unseed(Options(ranks, sets, {kUnwritten}));
    ASSERT_NE(a.Metrics(), b.Metrics());
    const Json json = Bisected(a, b);
    ExpectUnwritten(json, "conv1d");
    EXPECT_EQ(json["scope"], "layers.0.mixer");
    EXPECT_EQ(json["step"], 4);
  }
}

// A buffer that still has what a step before left in it comes back only where
// that step is done again too: the step is the first after a checkpoint.
TEST(UnwrittenMemoryTest, WhatAStepBeforeLeftIsNamedFromFurtherBack) {
  const TrainRig a("stale_a"), b("stale_b");
  a.Unseed(Options(1, {}));
  b.Unseed(
      Options(1, {}, {"kind=stale,step=5,at=layers.2.mixer.norm.forward"}));
  ASSERT_NE(a.Metrics(), b.Metrics());
  for (const Json& json : {Bisected(a, b), Bisected(b, a)}) {
    EXPECT_EQ(json["verdict"], "operation") << json;
    EXPECT_EQ(json["step"], 5);
    EXPECT_EQ(json["scope"], "layers.2.mixer") << json;
    EXPECT_EQ(json["operation"], "norm");
    EXPECT_EQ(json["repeatable"], true);
    EXPECT_EQ(json["sound_memory"], true);
    EXPECT_EQ(json["from_further_back"], true);
    EXPECT_NE(json["cause"].get<std::string>().find("a step before left"),
              std::string::npos)
        << json["cause"];
    EXPECT_NE(json["notes"].dump().find("that of step 2"), std::string::npos)
        << json["notes"];
  }
}

// Something else parts first, or happened once: what a replay cannot be relied
// on for is said all the same, with the place of the other.
TEST(UnwrittenMemoryTest, IsSaidWhateverElseThereIs) {
  const std::string flip = "kind=flip,bit=22,step=4,element=7,at=layers.";
  const TrainRig a("memory_a"), b("memory_b"), c("memory_c");
  a.Unseed(Options(1, {}));
  b.Unseed(Options(1, {}, {flip + "0.norm.forward", kUnwritten}));
  const Json first = Bisected(a, b);
  ExpectUnwritten(first, "conv1d");
  EXPECT_NE(first["notes"].dump().find("layers.0.norm"), std::string::npos)
      << first["notes"];
  c.Unseed(Options(1, {}, {flip + "3.norm.forward,replayed=no", kUnwritten}));
  // One of which began further back.
  ExpectUnwritten(Bisected(a, c), "conv1d", 3);
}

// No alarm: a sound step leaves the same trace whatever fresh memory holds and
// whenever its messages travel.
TEST(UnwrittenMemoryTest, ASoundStepDoesNotDependOnIt) {
  const std::vector<std::pair<int64_t, Words>> kinds = {
      {1, {"precision.mode=fp16", "model.hidden_dropout=0.1"}},
      {1, {"train.recompute=true", "data.reset_at_documents=true"}},
      {2, {"parallel.data=2", "precision.mode=bf16"}},
      {2, {"parallel.tensor=2", "parallel.sequence=true"}},
      {2, {"parallel.pipeline=2", "guarantee=layout_invariant"}}};
  FileSystem& fs = *PosixFileSystem();
  for (const auto& [ranks, sets] : kinds) {
    const TrainRig run("memory_sound"), traces("memory_traces");
    run.Unseed(Options(ranks, sets));
    ASSERT_TRUE(fs.MakeDirs(traces.dir()).ok());
    const SideOptions side = {.run = run.dir(),
                              .traces = traces.dir() + "/a",
                              .step = 4,
                              .threads = 1};
    ASSERT_TRUE(TracedReplay(fs, side).ok());
    const auto recurs = ReplayPoisoned(fs, side);
    ASSERT_TRUE(recurs.ok()) << recurs.status().message();
    EXPECT_TRUE(*recurs);
    const auto parting = CompareTraces(fs, side.traces, PoisonedTraces(side));
    ASSERT_TRUE(parting.ok()) << parting.status().message();
    EXPECT_TRUE(parting->equal()) << TraceDifferenceText(*parting);
    EXPECT_GT(parting->compared, 100);
  }
}

}  // namespace
}  // namespace lockstep
