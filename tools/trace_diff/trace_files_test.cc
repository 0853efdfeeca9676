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
      (*writer)->OnOperation({.step = step,
                              .scope = "layers.0",
                              .operation = "norm",
                              .inputs = {&in, 1},
                              .outputs = {&out, 1}});
      ASSERT_TRUE((*writer)
                      ->RecordFields(step, 0, {{"loss", std::to_string(value)}})
                      .ok());
    }
    ASSERT_TRUE((*writer)->Close().ok());
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
  EXPECT_EQ(d->compared, 18);  // an operation, its phase, its step
  EXPECT_EQ(d->missing, 0);
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
