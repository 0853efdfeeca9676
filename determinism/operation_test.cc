// Which samples an operation holds: a run may pass over some, so they are a
// list, for faults and traces alike.

#include "determinism/operation.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/fault.h"
#include "determinism/memory_file_system.h"
#include "determinism/trace_writer.h"

namespace lockstep {
namespace {

using Samples = std::vector<uint64_t>;

bool Fires(const Samples& samples, uint64_t wanted) {
  const auto spec =
      ParseFault(absl::StrCat("kind=raise,at=head,sample=", wanted));
  EXPECT_TRUE(spec.ok()) << spec.status();
  FaultPlan plan({*spec}, 0);
  plan.BeginStep(1, 0);
  plan.OnOperation({.step = 1, .operation = "head", .sample_ids = samples});
  return !plan.AtPoint("step.end").ok();
}

TEST(OperationSamplesTest, AFaultMeetsTheSamplesOfTheMicroBatchAndNoOther) {
  const Samples samples = {40, 43, 47};
  for (uint64_t sample = 0; sample < 60; ++sample) {
    const bool held = sample == 40 || sample == 43 || sample == 47;
    EXPECT_EQ(Fires(samples, sample), held) << sample;
    EXPECT_FALSE(Fires({}, sample)) << sample;  // an evaluation
  }
}

TEST(OperationSamplesTest, ATraceListsSamplesThatAreNotConsecutive) {
  for (const auto& [given, listed] :
       {std::pair<Samples, Samples>{{8, 9, 10}, {}},
        {{8}, {}},
        {{}, {}},
        {{8, 10, 11}, {8, 10, 11}},
        {{8, uint64_t{1} << 62}, {8, uint64_t{1} << 62}}}) {
    MemoryFileSystem fs;
    const auto writer =
        TraceWriter::Open(fs, "t", 0, {.level = TraceLevel::kOperation});
    ASSERT_TRUE(writer.ok()) << writer.status();
    (*writer)->OnOperation(
        {.step = 1, .operation = "head", .sample_ids = given});
    ASSERT_TRUE((*writer)->Close().ok());
    const auto trace = ReadTrace(fs, "t");
    ASSERT_TRUE(trace.ok()) << trace.status();
    const auto& samples = trace->records[0].operation().samples();
    EXPECT_EQ(Samples(samples.begin(), samples.end()), listed);
  }
}

}  // namespace
}  // namespace lockstep
