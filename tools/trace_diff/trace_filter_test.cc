// What one trace was not asked for is no other way that its run took.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/memory_file_system.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/trace_diff/trace_diff.h"

namespace lockstep {
namespace {

struct Asked {
  TraceOptions options = {.level = TraceLevel::kOperation};
  int rank = 0;
  // Steps that the run does, and the module whose operations are others.
  int64_t done = 0, last = 4;
  std::string spoilt = "";
  std::string without = "";  // does not do that module in step 3
};

class TraceFilterTest : public testing::Test {
 protected:
  void Write(const std::string& folder, const Asked& asked) {
    ASSERT_TRUE(fs_.MakeDirs(folder).ok());
    auto writer =
        TraceWriter::Open(fs_,
                          absl::StrCat(folder, "/rank_", asked.rank,
                                       ".step_0000000", asked.done, ".trace"),
                          asked.rank, asked.options);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (int64_t step = asked.done + 1; step <= asked.last; ++step) {
      for (const std::string scope : {"layers.0", "layers.1", "layers.10"}) {
        if (scope == asked.without && step == 3) continue;
        float y[2] = {5, scope == asked.spoilt && step == 3 ? 7.0f : 6.0f};
        const TensorRef out = {
            .name = "y", .dtype = DType::kF32, .shape = {2}, .data = y};
        (*writer)->OnOperation({.step = step,
                                .scope = scope,
                                .operation = "norm",
                                .outputs = {&out, 1}});
      }
      ASSERT_TRUE((*writer)->RecordFields(step, 0, {{"loss", "1"}}).ok());
    }
    ASSERT_TRUE((*writer)->Close().ok());
  }

  TraceDifference Compared(const std::string& a, const std::string& b) {
    const auto d = CompareTraces(fs_, a, b);
    EXPECT_TRUE(d.ok()) << d.status().message();
    return d.ok() ? *d : TraceDifference();
  }

  MemoryFileSystem fs_;
};

TEST_F(TraceFilterTest, OneThatWasAskedForLessIsComparedByWhatItHas) {
  Asked all, scope, steps, late, spoilt;
  scope.options.scope = "layers.1";
  steps.options.first_step = 2;
  steps.options.last_step = 3;
  late.done = 2;  // traced from its second launch on
  spoilt.spoilt = "layers.1";
  Write("/all", all);
  Write("/spoilt", spoilt);
  // Of a step three operations, its phase and its fields; of a scope an
  // operation and the fields.
  for (const auto& [asked, compared] :
       {std::pair(scope, 8), {steps, 10}, {late, 10}}) {
    const std::string folder = absl::StrCat("/less", compared, asked.done);
    Write(folder, asked);
    for (const bool swapped : {false, true}) {
      const auto compare = [&](const std::string& other) {
        return swapped ? Compared(folder, other) : Compared(other, folder);
      };
      const TraceDifference equal = compare("/all");
      EXPECT_TRUE(equal.equal()) << TraceDifferenceText(equal);
      EXPECT_EQ(equal.missing, 0);
      EXPECT_EQ(equal.compared, compared) << TraceDifferenceText(equal);
      ASSERT_EQ(equal.notes.size(), 1u);
      EXPECT_TRUE(absl::StrContains(equal.notes[0], "was asked for"));
      const TraceDifference other = compare("/spoilt");
      EXPECT_EQ(other.first.identity.step, 3) << folder;
      EXPECT_EQ(other.first.identity.scope, "layers.1") << folder;
    }
  }
  EXPECT_TRUE(Compared("/all", "/all").notes.empty());
}

// Within what both were asked for, one that lacks an operation took another
// way; and one that was stopped ends early, unless it was asked for no more.
TEST_F(TraceFilterTest, WhatBothWereAskedForCounts) {
  Asked all, less, stopped, asked;
  less.without = "layers.1";
  stopped.last = asked.last = asked.options.last_step = 3;
  Write("/all", all);
  Write("/less", less);
  Write("/stopped", stopped);
  Write("/asked", asked);
  EXPECT_EQ(Compared("/all", "/less").first.kind, Parting::kControlFlow);
  EXPECT_TRUE(Compared("/all", "/stopped").ends_early());
  EXPECT_FALSE(Compared("/all", "/asked").ends_early());
}

TEST_F(TraceFilterTest, NothingInCommonIsRefused) {
  Asked one, other;
  one.options.scope = "layers.0";
  one.options.last_step = 2;
  other.options.scope = "layers.1";
  other.options.first_step = 3;
  Write("/one", one);
  Write("/other", other);
  EXPECT_EQ(ExitCodeFor(CompareTraces(fs_, "/one", "/other").status()), 2);
}

// Of two ranks one left a trace; the header says that there were two.
TEST_F(TraceFilterTest, ARankWithoutATraceIsLeftOut) {
  Asked asked, other;
  asked.options.ranks = other.options.ranks = 2;
  other.rank = 1;
  Write("/both", asked);
  Write("/both", other);
  Write("/first", asked);
  const TraceDifference d = Compared("/both", "/first");
  EXPECT_TRUE(d.equal()) << TraceDifferenceText(d);
  EXPECT_FALSE(d.across_layouts);
  EXPECT_EQ(d.partings.size(), 1u);
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_TRUE(absl::StrContains(d.notes[0], "rank 1")) << d.notes[0];
}

// A file is gone on with by who was asked for the same.
TEST_F(TraceFilterTest, AFileIsOfOneFilter) {
  Asked asked;
  Write("/a", asked);
  TraceOptions narrower = asked.options;
  narrower.scope = "layers.1";
  const std::string path = "/a/rank_0.step_00000000.trace";
  EXPECT_TRUE(TraceWriter::Open(fs_, path, 0, asked.options).ok());
  EXPECT_EQ(ExitCodeFor(TraceWriter::Open(fs_, path, 0, narrower).status()), 2);
}

}  // namespace
}  // namespace lockstep
