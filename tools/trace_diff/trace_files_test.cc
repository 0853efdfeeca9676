// Traces in files: levels, launches, and what is no trace.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "determinism/memory_file_system.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/trace_diff/trace_diff.h"

namespace lockstep {
namespace {

class TraceFilesTest : public testing::Test {
 protected:
  // Steps [first, last]; `change` may touch what is written.
  void Write(const std::string& folder, int rank, int64_t first, int64_t last,
             TraceLevel level, float value = 1.0f) {
    ASSERT_TRUE(fs_.MakeDirs(folder).ok());
    auto writer =
        TraceWriter::Open(fs_,
                          absl::StrCat(folder, "/rank_", rank, ".step_0000000",
                                       first - 1, ".trace"),
                          rank, {.level = level, .inputs = true});
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (int64_t step = first; step <= last; ++step) {
      float x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, value};
      const TensorRef in = {
          .name = "x", .dtype = DType::kF32, .shape = {4}, .data = x};
      const TensorRef out = {
          .name = "y", .dtype = DType::kF32, .shape = {4}, .data = y};
      for (const char* operation : {"norm", "up_proj", "down_proj"}) {
        (*writer)->OnOperation({.step = step,
                                .scope = "layers.0",
                                .operation = operation,
                                .inputs = {&in, 1},
                                .outputs = {&out, 1}});
      }
      ASSERT_TRUE((*writer)
                      ->RecordFields(step, 0, {{"loss", std::to_string(value)}})
                      .ok());
    }
    ASSERT_TRUE((*writer)->Close().ok());
  }

  // `b` is equal as far as it goes, whichever comes first.
  void ExpectEnd(const std::string& a, const std::string& b, int64_t step,
                 bool in_step) {
    for (const bool swapped : {false, true}) {
      const auto d =
          swapped ? CompareTraces(fs_, b, a) : CompareTraces(fs_, a, b);
      ASSERT_TRUE(d.ok()) << d.status().message();
      EXPECT_TRUE(d->equal()) << TraceDifferenceText(*d);
      const auto json = nlohmann::json::parse(TraceDifferenceJson(*d));
      EXPECT_EQ(json["verdict"], "ends_early");
      EXPECT_EQ(json["missing"], 0);
      const auto& end = json[swapped ? "ends_a" : "ends_b"];
      EXPECT_EQ(end["step"], step) << json;
      EXPECT_EQ(end["in_step"], in_step);
      EXPECT_GT(end["beyond"], 0);
      EXPECT_TRUE(json[swapped ? "ends_b" : "ends_a"].is_null());
    }
  }

  MemoryFileSystem fs_;
};

TEST_F(TraceFilesTest, EveryLevelFindsItsOwn) {
  using Json = nlohmann::json;
  for (const auto& [level, operation] :
       {std::pair{TraceLevel::kOperation, "norm"},
        std::pair{TraceLevel::kPhase, kPhaseOperation},
        std::pair{TraceLevel::kStep, kStepOperation}}) {
    const std::string folder = absl::StrCat("/", NameOf(level));
    Write(folder + "a", 0, 1, 3, level);
    Write(folder + "b", 0, 1, 3, level);
    Write(folder + "c", 0, 1, 3, level, 2.0f);
    const auto same = CompareTraces(fs_, folder + "a", folder + "b");
    ASSERT_TRUE(same.ok()) << same.status().message();
    EXPECT_TRUE(same->equal());
    const auto other = CompareTraces(fs_, folder + "a", folder + "c");
    ASSERT_TRUE(other.ok());
    EXPECT_FALSE(other->equal());
    const Json json = Json::parse(TraceDifferenceJson(*other));
    EXPECT_EQ(json["step"], 1);
    EXPECT_EQ(json["operation"], operation);
    EXPECT_EQ(json["rank"], 0);
  }
  EXPECT_EQ(ExitCodeFor(CompareTraces(fs_, "/stepa", "/operationb").status()),
            2);
}

TEST_F(TraceFilesTest, ALaterLaunchsStepsCount) {
  Write("/a", 0, 1, 6, TraceLevel::kOperation);
  Write("/b", 0, 1, 5, TraceLevel::kOperation);  // killed after step 5,
  Write("/b", 0, 4, 6, TraceLevel::kOperation);  // resumed after step 3
  const auto d = CompareTraces(fs_, "/a", "/b");
  ASSERT_TRUE(d.ok()) << d.status().message();
  EXPECT_TRUE(d->equal()) << TraceDifferenceText(*d);
  EXPECT_EQ(d->compared, 30);  // three operations, their phase, the step
  EXPECT_EQ(d->missing, 0);
}

// It was stopped, and the other went on.
TEST_F(TraceFilesTest, OneThatEndsEarlierTookNoOtherWay) {
  for (const TraceLevel level :
       {TraceLevel::kOperation, TraceLevel::kPhase, TraceLevel::kStep}) {
    const std::string of = absl::StrCat("/", NameOf(level));
    Write(of + "long", 0, 1, 6, level);
    Write(of + "short", 0, 1, 4, level);
    ExpectEnd(of + "long", of + "short", 4, false);
  }
}

// A kill leaves any number of bytes of its last step.
TEST_F(TraceFilesTest, NorDidOneThatWasKilledInAStep) {
  Write("/a", 0, 1, 6, TraceLevel::kOperation);
  Write("/four", 0, 1, 4, TraceLevel::kOperation);
  Write("/five", 0, 1, 5, TraceLevel::kOperation);
  const std::string name = "/rank_0.step_00000000.trace";
  const std::string five = *fs_.ReadFile("/five" + name);
  const size_t four = fs_.ReadFile("/four" + name)->size();
  ASSERT_TRUE(fs_.MakeDirs("/killed").ok());
  for (size_t bytes = four; bytes < five.size(); ++bytes) {
    ASSERT_TRUE(
        WriteFileAtomically(fs_, "/killed" + name, five.substr(0, bytes)).ok());
    const auto d = CompareTraces(fs_, "/a", "/killed");
    ASSERT_TRUE(d.ok()) << d.status().message();
    EXPECT_TRUE(d->equal()) << bytes << TraceDifferenceText(*d);
    EXPECT_EQ(d->missing, 0);
    ASSERT_TRUE(d->end_b.has_value());
    EXPECT_EQ(d->end_b->in_step, d->end_b->step == 5);
  }
  ExpectEnd("/a", "/killed", 5, true);
}

// What it lacks of a step that it did finish is another way still, and what
// differs before its end is told.
TEST_F(TraceFilesTest, AnEndExcusesNothingBeforeIt) {
  Write("/a", 0, 1, 6, TraceLevel::kOperation);
  Write("/short", 0, 1, 5, TraceLevel::kOperation, 2.0f);
  const auto d = CompareTraces(fs_, "/a", "/short");
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d->first.kind, Parting::kOrigin);
  EXPECT_EQ(d->first.identity.step, 1);
  EXPECT_TRUE(d->ends_early());
  Write("/hole", 0, 1, 2, TraceLevel::kOperation);
  Write("/hole", 0, 4, 6, TraceLevel::kOperation);
  const auto hole = CompareTraces(fs_, "/a", "/hole");
  ASSERT_TRUE(hole.ok());
  EXPECT_EQ(hole->first.kind, Parting::kControlFlow)
      << TraceDifferenceText(*hole);
  EXPECT_FALSE(hole->ends_early());
}

TEST_F(TraceFilesTest, EachRankEndsWhereItWasKilled) {
  for (const int rank : {0, 1}) {
    Write("/a", rank, 1, 6, TraceLevel::kOperation);
    Write("/b", rank, 1, 5 - rank, TraceLevel::kOperation);
  }
  ExpectEnd("/a", "/b", 4, false);
}

TEST_F(TraceFilesTest, WhatIsNoTraceIsRefused) {
  ASSERT_TRUE(fs_.MakeDirs("/empty").ok());
  Write("/a", 0, 1, 1, TraceLevel::kOperation);
  Write("/later", 0, 5, 5, TraceLevel::kOperation);
  for (const char* other : {"/empty", "/nowhere", "/later"}) {
    EXPECT_EQ(ExitCodeFor(CompareTraces(fs_, "/a", other).status()), 2)
        << other;
  }
}

}  // namespace
}  // namespace lockstep
