// What `trace show` leaves out, and what it says where that is all; and traces
// that lost bytes in their midst.
#include "tools/trace_diff/trace_show.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "tools/trace_diff/traced_operation.h"

namespace lockstep {
namespace {

constexpr char kFile[] = "/t.trace";

// Steps 3 and 4 of three modules.
void WriteTrace(FileSystem& fs) {
  auto writer =
      TraceWriter::Open(fs, kFile, 0, {.level = TraceLevel::kOperation});
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  for (const int64_t step : {3, 4}) {
    for (const char* scope : {"layers.1", "layers.1.mixer", "layers.10"}) {
      float y[2] = {5, 6};
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

class TraceShowTest : public testing::Test {
 protected:
  void SetUp() override {
    WriteTrace(fs_);
    trace_ = ReadTrace(fs_, kFile).value_or(Trace());
    ASSERT_EQ(trace_.records.size(), 10u);  // with two phases and two steps
  }

  int64_t Asked(const AskedRecords& asked) const {
    int64_t count = 0;
    for (const auto& record : trace_.records) count += IsAsked(record, asked);
    return count;
  }

  MemoryFileSystem fs_;
  Trace trace_;
};

TEST_F(TraceShowTest, AScopeIsAModulePath) {
  EXPECT_EQ(Asked({}), 10);
  EXPECT_EQ(Asked({.scope = "layers.1"}), 4);
  EXPECT_EQ(Asked({.scope = "layers.10"}), 2);
  EXPECT_EQ(Asked({.scope = "layers"}), 6);
  EXPECT_EQ(Asked({.scope = "layers.1", .step = 4}), 2);
  EXPECT_EQ(Asked({.scope = "layers.1.mix"}), 0);
  EXPECT_EQ(Asked({.step = 3}), 5);
}

TEST_F(TraceShowTest, WhatMatchesNothingIsSaid) {
  for (const AskedRecords& good :
       {AskedRecords{}, AskedRecords{.scope = "layers.1", .step = 3}}) {
    EXPECT_TRUE(CheckAsked(trace_, good).ok());
  }
  const absl::Status scope =
      CheckAsked(trace_, {.file = kFile, .scope = "layers.11"});
  EXPECT_EQ(ExitCodeFor(scope), 2);
  EXPECT_TRUE(absl::StrContains(scope.message(), "nearest are layers.1"))
      << scope;
  const absl::Status step = CheckAsked(trace_, {.file = kFile, .step = 99});
  EXPECT_EQ(ExitCodeFor(step), 2);
  EXPECT_TRUE(absl::StrContains(step.message(), "from 3 to 4")) << step;
  EXPECT_TRUE(CheckAsked(Trace(), {.scope = "layers.11"}).ok());
}

// A kill cuts off an end; what lost bytes before sound records is damaged.
TEST_F(TraceShowTest, BytesLostInTheMidstAreNoTornEnd) {
  const std::string whole = *fs_.ReadFile(kFile);
  const size_t middle = whole.size() / 2;
  for (const size_t lost : {1, 7, 100}) {
    for (const size_t at : {middle, middle + 13}) {
      ASSERT_TRUE(
          WriteFileAtomically(fs_, "/cut.trace",
                              whole.substr(0, at) + whole.substr(at + lost))
              .ok());
      const auto cut = ReadTrace(fs_, "/cut.trace");
      EXPECT_EQ(ExitCodeFor(cut.status()), 4) << lost << " at " << at;
    }
  }
  ASSERT_TRUE(
      WriteFileAtomically(fs_, "/torn.trace", whole.substr(0, middle)).ok());
  const auto torn = ReadTrace(fs_, "/torn.trace");
  ASSERT_TRUE(torn.ok()) << torn.status();
  EXPECT_GT(torn->torn_bytes, 0u);
}

// An update is the whole step's.
TEST(IdentityTextTest, OnlyWhatHasASampleNamesOne) {
  OperationIdentity id;
  id.step = 3;
  id.scope = "w";
  id.operation = "adamw";
  for (const char* phase : {"optimizer", "reduction", "collective", "clip"}) {
    id.phase = phase;
    EXPECT_FALSE(absl::StrContains(ToString(id), "sample")) << ToString(id);
  }
  id.phase = "backward";
  id.first_sample = 24;
  EXPECT_TRUE(absl::StrContains(ToString(id), "sample 24")) << ToString(id);
}

}  // namespace
}  // namespace lockstep
