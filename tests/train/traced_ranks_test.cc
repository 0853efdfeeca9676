// N12 where ranks exchange: a run that records every tensor's bytes on every
// rank has the bits of one that records nothing, evaluations included.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "determinism/trace_writer.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

constexpr int64_t kSteps = 4;

RigOptions Options(const std::vector<std::string>& more) {
  RigOptions options = {
      .sets = {"precision.mode=bf16", "model.hidden_dropout=0.1",
               "eval.every=2", "checkpoint.every=2"},
      .steps = kSteps,
      .threads = 1,
      .ranks = 2};
  options.sets.insert(options.sets.end(), more.begin(), more.end());
  return options;
}

struct Recorded {
  std::set<int64_t> steps = {};
  std::set<std::string> phases = {};
  int64_t tensors = 0, with_bytes = 0, inputs = 0, ordered_kernels = 0;
};

Recorded RecordedBy(const TrainRig& run, int rank) {
  Recorded all;
  const std::string path =
      absl::StrCat(run.dir(), "/traces/rank_", rank, ".step_00000000.trace");
  const auto trace = ReadTrace(*PosixFileSystem(), path);
  EXPECT_TRUE(trace.ok()) << trace.status();
  if (!trace.ok()) return all;
  for (const trace::Record& record : trace->records) {
    if (record.body_case() != trace::Record::kOperation) continue;
    all.steps.insert(record.step());
    all.phases.insert(record.phase());
    all.inputs += record.operation().inputs_size();
    for (const trace::Tensor& tensor : record.operation().outputs()) {
      if (tensor.count() == 0) continue;
      ++all.tensors;
      all.with_bytes += !tensor.values().contents().empty();
    }
    for (const trace::Kernel& kernel : record.operation().kernels()) {
      all.ordered_kernels += !kernel.order().empty();
    }
  }
  return all;
}

// It did record: nothing is proven by a tracer that was off.
void ExpectAllRecorded(const TrainRig& run, int rank) {
  const Recorded all = RecordedBy(run, rank);
  EXPECT_EQ(all.steps.size(), static_cast<size_t>(kSteps));
  EXPECT_TRUE(all.phases.contains("backward")) << rank;
  EXPECT_GT(all.tensors, 500);
  EXPECT_EQ(all.with_bytes, all.tensors);
  EXPECT_GT(all.inputs, 500);
  EXPECT_GT(all.ordered_kernels, 100);
}

class TracedRanksTest : public testing::TestWithParam<const char*> {};

TEST_P(TracedRanksTest, N12TheTracedRunHasTheUntracedRunsBits) {
  const std::string layout = absl::StrCat("parallel.", GetParam(), "=2");
  const TrainRig plain("untraced"), traced("traced"), other("another_seed");
  const std::string unseed = plain.Unseed(Options({layout}));
  EXPECT_EQ(traced.Unseed(
                Options({layout, "trace.level=kernel", "trace.values=bytes"})),
            unseed);
  EXPECT_EQ(plain.Metrics().size(), static_cast<size_t>(kSteps));
  EXPECT_TRUE(SameLines(traced.Metrics(), plain.Metrics()));
  EXPECT_FALSE(plain.Read("eval.jsonl").empty());
  EXPECT_EQ(traced.Read("eval.jsonl"), plain.Read("eval.jsonl"));
  EXPECT_FALSE(plain.Exists("traces"));
  for (const int rank : {0, 1}) ExpectAllRecorded(traced, rank);
  // The canary: what must matter does.
  EXPECT_NE(other.Unseed(Options({layout, "seed=2"})), unseed);
  EXPECT_NE(other.Read("eval.jsonl"), plain.Read("eval.jsonl"));
}

INSTANTIATE_TEST_SUITE_P(Layouts, TracedRanksTest,
                         testing::Values("data", "tensor", "pipeline"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace lockstep
