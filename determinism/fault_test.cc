// Faults: what their text may say, and that each kind does its damage exactly
// where it was told to and nowhere else.

#include "determinism/fault.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "determinism/clock.h"
#include "determinism/fault_file_system.h"
#include "determinism/memory_file_system.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto spec = ParseFault(text);
  if (spec.ok()) return "accepted";
  EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(spec.status().message());
}

void ExpectError(std::string_view text, std::string_view expected) {
  const std::string error = ErrorOf(text);
  EXPECT_NE(error.find(expected), std::string::npos)
      << text << "\ngave: " << error;
  EXPECT_NE(error.find(text), std::string::npos) << error;  // quotes the text
}

std::vector<FaultSpec> Specs(std::initializer_list<const char*> texts) {
  std::vector<FaultSpec> specs;
  for (const char* text : texts) {
    auto spec = ParseFault(text);
    EXPECT_TRUE(spec.ok()) << spec.status();
    specs.push_back(*std::move(spec));
  }
  return specs;
}

TEST(ParseFaultTest, ReadsEveryKey) {
  const auto spec = ParseFault(
      "kind=flip,step=7,rank=1,at=layers.3.mixer.in_proj.forward,element=123,"
      "bit=3,sample=40,micro=2,phase=forward,occurrence=4,when=p=0.5,"
      "replayed=no");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->kind, FaultKind::kFlip);
  EXPECT_EQ(spec->step, 7);
  EXPECT_EQ(spec->rank, 1);
  EXPECT_EQ(spec->at, "layers.3.mixer.in_proj.forward");
  EXPECT_EQ(spec->element, 123);
  EXPECT_EQ(spec->bit, 3);
  EXPECT_EQ(spec->sample, 40u);
  EXPECT_EQ(spec->micro, 2);
  EXPECT_EQ(spec->phase, Phase::kForward);
  EXPECT_EQ(spec->occurrence, 4);
  EXPECT_EQ(spec->when, FaultSpec::When::kProbability);
  EXPECT_EQ(spec->probability, 0.5);
  EXPECT_FALSE(spec->replayed);
  EXPECT_EQ(ParseFault("kind=sleep,ms=5")->sleep_ms, 5);
  EXPECT_EQ(ParseFault("kind=spike,at=a,factor=-2.5")->factor, -2.5);
  EXPECT_EQ(ParseFault("kind=nan,at=a,element=0,occurrence=all")->occurrence,
            FaultSpec::kEveryOccurrence);
  EXPECT_EQ(ParseFault("kind=kill,when=from")->when, FaultSpec::When::kFrom);
}

TEST(ParseFaultTest, EachMistakeIsNamedWithTheNearestValidName) {
  ExpectError("kind=flop,at=a", "write 'flip'");
  ExpectError("kind=flip,at=a,elemnt=1,bit=0", "write 'element'");
  ExpectError("kind=nan,at=a,element=1,phase=foreward", "write 'forward'");
  ExpectError("step=3", "missing kind");
  ExpectError("kind=flip,at=a,bit=1", "misses 'element'");
  ExpectError("kind=flip,at=a,element=1", "misses 'bit'");
  ExpectError("kind=flip,element=1,bit=1", "misses 'at'");
  ExpectError("kind=enospc", "misses 'at'");
  ExpectError("kind=sleep", "misses 'ms'");
  ExpectError("kind=skip_sample,step=1", "misses 'sample'");
  ExpectError("kind=skip_sample,sample=1", "misses 'step'");
  ExpectError("kind=kill,bit=3", "takes no 'bit'");
  ExpectError("kind=eio,at=a,element=3", "takes no 'element'");
  ExpectError("kind=flip,kind=nan", "stands twice");
  ExpectError("kind=flip,,at=a", "'' is no key=value");
  ExpectError("kind=flip,at=", "'at=' is no key=value");
  ExpectError("kind=kill,step=-1", "step is '-1'");
  ExpectError("kind=kill,step=7x", "step is '7x'");
  ExpectError("kind=kill,step=99999999999999999999", "step is");
  ExpectError("kind=flip,at=a,element=1,bit=64", "bit is '64'");
  ExpectError("kind=kill,when=p=1.5", "when=p is '1.5'");
  ExpectError("kind=kill,when=p=nan", "when=p is 'nan'");
  ExpectError("kind=kill,when=twice", "when is 'twice'");
  ExpectError("kind=kill,replayed=maybe", "replayed is 'maybe'");
  ExpectError("kind=kill,occurrence=0", "occurrence is '0'");
  ExpectError("kind=kill,at=a..b", "empty component");
  ExpectError("kind=nan,element=0,at=a.forward,phase=backward",
              "at ends in phase forward, phase is backward");
}

// An operation "layers.3.mixer.in_proj" with one [4, 3] output.
class OperationFaultTest : public testing::Test {
 protected:
  OperationFaultTest() { Reset(); }

  void Reset() {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = 1.0f + i;
  }
  void Run(FaultPlan& plan, Phase phase = Phase::kForward,
           int64_t micro_batch = 0) {
    const TensorRef out = {.name = "out",
                           .dtype = DType::kF32,
                           .shape = {4, 3},
                           .data = values_.data()};
    plan.OnOperation({.step = 7,
                      .phase = phase,
                      .scope = "layers.3.mixer",
                      .operation = "in_proj",
                      .micro_batch = micro_batch,
                      .outputs = {&out, 1},
                      .sample_ids = kSamples});
  }
  // Elements whose bits are not as Reset left them.
  std::vector<size_t> Changed() const {
    std::vector<size_t> changed;
    for (size_t i = 0; i < values_.size(); ++i) {
      const float expected = 1.0f + i;
      if (std::memcmp(&values_[i], &expected, 4) != 0) changed.push_back(i);
    }
    return changed;
  }
  // Whether a plan of this one spec fires at the standard event.
  bool Fires(const std::string& rest, int64_t step = 7) {
    Reset();
    FaultPlan plan(Specs({("kind=nan,element=5," + rest).c_str()}), 0);
    plan.BeginStep(step, 0);
    Run(plan);
    EXPECT_TRUE(plan.AtPoint("step.end").ok());
    EXPECT_EQ(plan.Unfired().empty(), !Changed().empty());
    return !Changed().empty();
  }

  static constexpr uint64_t kSamples[] = {40, 41};
  std::vector<float> values_ = std::vector<float>(12);
};

using Elements = std::vector<size_t>;

TEST_F(OperationFaultTest, FlipChangesOneBitOfOneElement) {
  FaultPlan plan(Specs({"kind=flip,at=layers.3.mixer.in_proj.forward,"
                        "element=5,bit=31"}),
                 0);
  plan.BeginStep(7, 0);
  Run(plan);
  EXPECT_EQ(Changed(), Elements{5});
  EXPECT_EQ(values_[5], -6.0f);
  Run(plan);  // once
  EXPECT_EQ(values_[5], -6.0f);
}

TEST_F(OperationFaultTest, NanSwapRowsAndSpike) {
  const std::string at = "at=layers.3.mixer.in_proj";
  FaultPlan nan(Specs({("kind=nan,element=11," + at).c_str()}), 0);
  nan.BeginStep(7, 0);
  Run(nan);
  EXPECT_EQ(Changed(), Elements{11});
  uint32_t bits;
  std::memcpy(&bits, &values_[11], 4);
  EXPECT_EQ(bits, 0x7fc00000u);

  Reset();
  FaultPlan swap(Specs({("kind=swap_rows,element=10," + at).c_str()}), 0);
  swap.BeginStep(7, 0);
  Run(swap);
  EXPECT_EQ(values_, (std::vector<float>{10, 11, 12, 4, 5, 6, 7, 8, 9, 1, 2,
                                         3}));  // the last with the first

  Reset();
  FaultPlan spike(Specs({("kind=spike,element=2,factor=8," + at).c_str()}), 0);
  spike.BeginStep(7, 0);
  Run(spike);
  EXPECT_EQ(Changed(), Elements{2});
  EXPECT_EQ(values_[2], 24.0f);

  Reset();
  FaultPlan all(Specs({("kind=spike," + at).c_str()}), 0);
  all.BeginStep(7, 0);
  Run(all);
  EXPECT_EQ(Changed().size(), 12u);
  EXPECT_EQ(values_[11], 12.0f * 1024);
}

TEST_F(OperationFaultTest, OtherTypesGetTheirOwnNanAndSpike) {
  uint16_t bf16[2] = {0x3f80, 0x3f80}, f16[2] = {0x3c00, 0x3c00};
  double f64[2] = {1, 1};
  const TensorRef refs[] = {
      {.name = "b", .dtype = DType::kBF16, .shape = {2}, .data = bf16},
      {.name = "h", .dtype = DType::kF16, .shape = {2}, .data = f16},
      {.name = "d", .dtype = DType::kF64, .shape = {2}, .data = f64}};
  for (const TensorRef& ref : refs) {
    FaultPlan plan(Specs({"kind=nan,at=x,element=0",
                          "kind=spike,at=x,"
                          "element=1,factor=2"}),
                   0);
    plan.AtOperation({.operation = "x", .outputs = {&ref, 1}});
    EXPECT_TRUE(plan.AtPoint("p").ok());
  }
  EXPECT_EQ(bf16[0], 0x7fc0);
  EXPECT_EQ(bf16[1], 0x4000);
  EXPECT_EQ(f16[0], 0x7e00);
  EXPECT_EQ(f16[1], 0x4000);
  EXPECT_NE(f64[0], f64[0]);
  EXPECT_EQ(f64[1], 2.0);
}

TEST_F(OperationFaultTest, OnlyTheNamedPlaceIsHit) {
  EXPECT_TRUE(Fires("at=layers.3.mixer.in_proj"));
  EXPECT_TRUE(Fires("at=layers.3.mixer.in_proj.forward"));
  EXPECT_TRUE(Fires("at=layers.*.mixer.in_proj"));
  EXPECT_TRUE(Fires("at=layers.3.mixer.*,phase=forward"));
  EXPECT_TRUE(Fires("at=layers.3.mixer.in_proj,sample=41"));
  EXPECT_TRUE(Fires("at=layers.3.mixer.in_proj,micro=0,step=7,rank=0"));
  EXPECT_FALSE(Fires("at=layers.3.mixer"));
  EXPECT_FALSE(Fires("at=layers.30.mixer.in_proj"));
  EXPECT_FALSE(Fires("at=layers.3.mixer.in_proj.backward"));
  EXPECT_FALSE(Fires("at=layers.3.mixer.in_proj,phase=backward"));
  EXPECT_FALSE(Fires("at=layers.3.mixer.in_proj,sample=42"));
  EXPECT_FALSE(Fires("at=layers.3.mixer.in_proj,sample=39"));
  EXPECT_FALSE(Fires("at=layers.3.mixer.in_proj,micro=1"));
  EXPECT_FALSE(Fires("at=layers.3.mixer.in_proj,step=7", 6));
  EXPECT_FALSE(Fires("at=layers.3.mixer.in_proj,step=7", 8));
}

TEST_F(OperationFaultTest, OtherRanksAreSpared) {
  const auto specs = Specs({"kind=kill,rank=1,step=7"});
  EXPECT_TRUE(FaultPlan(specs, 0).empty());
  EXPECT_FALSE(FaultPlan(specs, 1).empty());
}

TEST_F(OperationFaultTest, OccurrenceCountsMatchesOfTheStep) {
  for (const int64_t wanted : {1, 2, 3}) {
    Reset();
    const std::string text =
        "kind=spike,element=0,factor=2,at=layers.3.mixer.in_proj,step=7,"
        "occurrence=" +
        std::to_string(wanted);
    FaultPlan plan(Specs({text.c_str()}), 0);
    plan.BeginStep(7, 0);
    for (int64_t micro = 0; micro < 3; ++micro) {
      Run(plan, Phase::kForward, micro);
      EXPECT_EQ(Changed().size(), micro + 1 >= wanted ? 1u : 0u);
    }
    EXPECT_EQ(values_[0], 2.0f);
  }
}

// How often `text` fires in steps 1 to 20, as a string of 0 and 1.
std::string FiringSteps(const std::string& text, bool replay, int attempt) {
  FaultPlan plan(Specs({text.c_str()}), 0, replay);
  std::string fired;
  for (int64_t step = 1; step <= 20; ++step) {
    plan.BeginStep(step, attempt);
    fired.push_back(plan.AtPoint("step.begin").ok() ? '0' : '1');
  }
  return fired;
}

TEST(FaultPlanTest, WhenOnceFromAndProbability) {
  const std::string none(20, '0');
  EXPECT_EQ(FiringSteps("kind=raise", false, 0), "1" + none.substr(1));
  std::string at_7 = none;
  at_7[6] = '1';
  EXPECT_EQ(FiringSteps("kind=raise,step=7", false, 0), at_7);
  EXPECT_EQ(FiringSteps("kind=raise,step=7,when=from", false, 0),
            "000000" + std::string(14, '1'));
  const std::string half = FiringSteps("kind=raise,when=p=0.5", false, 0);
  const auto count = std::count(half.begin(), half.end(), '1');
  EXPECT_GT(count, 4) << half;
  EXPECT_LT(count, 16) << half;
  // A pure function of the step (N9): the same again, and the same when the
  // run begins later.
  EXPECT_EQ(FiringSteps("kind=raise,when=p=0.5", false, 0), half);
  EXPECT_EQ(FiringSteps("kind=raise,when=p=0.5,step=9", false, 0).substr(8),
            half.substr(8));
  EXPECT_EQ(FiringSteps("kind=raise,when=p=0", false, 0), none);
  EXPECT_EQ(FiringSteps("kind=raise,when=p=1", false, 0), std::string(20, '1'));
}

TEST(FaultPlanTest, HardwareFaultsAreNotMetAgain) {
  const std::string program = "kind=raise,when=from";
  const std::string hardware = "kind=raise,when=from,replayed=no";
  const std::string all(20, '1'), none(20, '0');
  EXPECT_EQ(FiringSteps(program, false, 1), all);
  EXPECT_EQ(FiringSteps(program, true, 0), all);
  EXPECT_EQ(FiringSteps(hardware, false, 0), all);
  EXPECT_EQ(FiringSteps(hardware, false, 1), none);
  EXPECT_EQ(FiringSteps(hardware, true, 0), none);
}

TEST_F(OperationFaultTest, ElementsCountInTheUnshardedTensor) {
  // The box [1:3, 2:5] of a [4, 6] tensor, rows 5 floats apart.
  std::vector<float> memory(10, 1.0f);
  const TensorRef out = {.name = "out",
                         .dtype = DType::kF32,
                         .shape = {2, 3},
                         .data = memory.data(),
                         .row_stride_bytes = 20,
                         .global_shape = {4, 6},
                         .held = {{{1, 3}}, {{2, 5}}}};
  int64_t hits = 0;
  for (int64_t element = 0; element < 24; ++element) {
    std::fill(memory.begin(), memory.end(), 1.0f);
    const std::string text =
        "kind=spike,at=x,element=" + std::to_string(element);
    FaultPlan plan(Specs({text.c_str()}), 0);
    plan.AtOperation({.operation = "x", .outputs = {&out, 1}});
    EXPECT_TRUE(plan.AtPoint("p").ok());
    const int64_t row = element / 6 - 1, column = element % 6 - 2;
    const bool inside = row >= 0 && row < 2 && column >= 0 && column < 3;
    EXPECT_EQ(plan.Unfired().empty(), inside) << element;
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 1024.0f), inside);
    if (inside) {
      ++hits;
      EXPECT_EQ(memory[row * 5 + column], 1024.0f) << element;
    }
  }
  EXPECT_EQ(hits, 6);
}

TEST_F(OperationFaultTest, WhatCannotBeDoneIsAnErrorAtTheNextPoint) {
  const std::string at = "at=layers.3.mixer.in_proj,";
  const char* const rests[] = {"kind=flip,element=12,bit=0",
                               "kind=flip,element=0,bit=32"};
  for (const char* rest : rests) {
    FaultPlan plan(Specs({(at + rest).c_str()}), 0);
    plan.BeginStep(7, 0);
    Run(plan);
    EXPECT_TRUE(Changed().empty());
    const absl::Status status = plan.AtPoint("step.end");
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << rest;
    EXPECT_TRUE(plan.AtPoint("step.end").ok());  // told once
  }
  int64_t integers[2] = {1, 2};
  const TensorRef ids = {
      .name = "ids", .dtype = DType::kI64, .shape = {2}, .data = integers};
  for (const char* text : {"kind=nan,at=x,element=0", "kind=spike,at=x",
                           "kind=swap_rows,at=x,element=0"}) {
    FaultPlan plan(Specs({text}), 0);
    plan.AtOperation({.operation = "x", .outputs = {&ids, 1}});
    EXPECT_FALSE(plan.AtPoint("p").ok()) << text;
    FaultPlan without_output(Specs({text}), 0);
    without_output.AtOperation({.operation = "x"});
    EXPECT_FALSE(without_output.AtPoint("p").ok()) << text;
  }
  EXPECT_EQ(integers[0] + integers[1], 3);
}

TEST_F(OperationFaultTest, RaiseAtAnOperationComesOutAtTheNextPoint) {
  FaultPlan plan(Specs({"kind=raise,at=layers.3.mixer.in_proj.backward"}), 0);
  plan.BeginStep(7, 0);
  Run(plan);
  EXPECT_TRUE(plan.AtPoint("a").ok());
  Run(plan, Phase::kBackward);
  EXPECT_EQ(plan.AtPoint("b").code(), absl::StatusCode::kInternal);
}

TEST(FaultPlanTest, SleepSleepsAndKillKills) {
  FaultPlan sleep(Specs({"kind=sleep,ms=30"}), 0);
  RealClock clock;
  const int64_t before = clock.MonotonicNanos();
  EXPECT_TRUE(sleep.AtPoint("step.begin").ok());
  EXPECT_GE(clock.MonotonicNanos() - before, 30'000'000);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        FaultPlan kill(Specs({"kind=kill,at=save.shard.write"}), 0);
        (void)kill.AtPoint("save.shard.write");
      },
      testing::KilledBySignal(SIGKILL), "");
}

TEST(FaultPlanTest, SkipSampleReadsOneTooFar) {
  FaultPlan once(Specs({"kind=skip_sample,step=3,sample=10"}), 0);
  FaultPlan from(Specs({"kind=skip_sample,step=3,sample=10,when=from"}), 0);
  for (FaultPlan* plan : {&once, &from}) {
    plan->BeginStep(2, 0);
    EXPECT_EQ(plan->SampleFor(10), 10u);
    plan->BeginStep(3, 0);
    EXPECT_EQ(plan->SampleFor(9), 9u);
    EXPECT_EQ(plan->SampleFor(10), 11u);
  }
  EXPECT_EQ(once.SampleFor(11), 11u);
  EXPECT_EQ(from.SampleFor(11), 12u);
  once.BeginStep(4, 0);
  from.BeginStep(4, 0);
  EXPECT_EQ(once.SampleFor(10), 10u);
  EXPECT_EQ(from.SampleFor(10), 11u);
  EXPECT_TRUE(once.Unfired().empty());
}

// The result of writing "0123456789" to /x.safetensors through a fault.
struct WriteResult {
  absl::Status status;
  std::string contents;
};
WriteResult WriteThrough(const char* fault) {
  MemoryFileSystem memory;
  FaultPlan plan(Specs({fault}), 0);
  FaultFileSystem fs(&memory, &plan);
  const absl::Status status =
      WriteFileAtomically(fs, "/x.safetensors", "0123456789");
  EXPECT_TRUE(plan.Unfired().empty()) << fault;
  memory.Crash(0);
  const auto contents = memory.ReadFile("/x.safetensors");
  return {status, contents.ok() ? *contents : "absent"};
}

TEST(FaultFileSystemTest, CallsBreakAtTheirPoints) {
  for (const char* call : {"create", "write", "sync", "close", "rename"}) {
    const std::string text = std::string("kind=eio,at=save.shard.") + call;
    const WriteResult result = WriteThrough(text.c_str());
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInternal) << call;
    EXPECT_NE(std::string(result.status.message()).find("/x.safetensors"),
              std::string::npos);
    EXPECT_EQ(result.contents, "absent") << call;
  }
  EXPECT_EQ(WriteThrough("kind=enospc,at=save.*.write").status.code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(WriteThrough("kind=short_write,at=save.shard.write").contents,
            "absent");
  const WriteResult lost = WriteThrough("kind=lost_write,at=save.shard.write");
  EXPECT_TRUE(lost.status.ok());  // that is the point of it
  EXPECT_EQ(lost.contents, "");
  const WriteResult unsynced =
      WriteThrough("kind=lost_write,at=save.shard.sync");
  EXPECT_TRUE(unsynced.status.ok());
  EXPECT_EQ(unsynced.contents, "");
  EXPECT_EQ(WriteThrough("kind=lost_write,at=save.shard.rename").status.code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(FaultFileSystemTest, ShortWriteLeavesHalf) {
  MemoryFileSystem memory;
  FaultPlan plan(Specs({"kind=short_write,at=save.ledger.write"}), 0);
  FaultFileSystem fs(&memory, &plan);
  auto file = fs.OpenAppend("/ledger.jsonl");
  EXPECT_FALSE((*file)->Append("0123456789").ok());
  EXPECT_TRUE((*file)->Append("ab").ok());  // once
  EXPECT_EQ(*memory.ReadFile("/ledger.jsonl"), "01234ab");
}

TEST(FaultFileSystemTest, ReadsBreakToo) {
  MemoryFileSystem memory;
  ASSERT_TRUE(WriteFileAtomically(memory, "/x.safetensors", "abc").ok());
  FaultPlan plan(Specs({"kind=eio,at=load.shard.read,occurrence=2"}), 0);
  FaultFileSystem fs(&memory, &plan);
  EXPECT_EQ(*fs.ReadFile("/x.safetensors"), "abc");
  const auto file = fs.OpenRead("/x.safetensors");
  char out;
  EXPECT_FALSE((*file)->ReadAt(0, 1, &out).ok());
  EXPECT_TRUE((*file)->ReadAt(0, 1, &out).ok());
  EXPECT_EQ(out, 'a');
}

TEST(FaultFileSystemTest, NounsOfARunFolder) {
  EXPECT_EQ(RunFolderNoun("r/checkpoints/step_00000100/a.safetensors"),
            "shard");
  EXPECT_EQ(RunFolderNoun("r/a.safetensors.tmp"), "shard");
  EXPECT_EQ(RunFolderNoun("r/model.safetensors.index.json"), "index");
  EXPECT_EQ(RunFolderNoun("r/manifest.json.tmp"), "manifest");
  EXPECT_EQ(RunFolderNoun("r/ledger.jsonl"), "ledger");
  EXPECT_EQ(RunFolderNoun("r/metrics.jsonl"), "metrics");
  EXPECT_EQ(RunFolderNoun("r/traces/rank_0.trace"), "trace");
  EXPECT_EQ(RunFolderNoun("r/data/train.bin"), "tokens");
  EXPECT_EQ(RunFolderNoun("r/checkpoints/step_00000100"), "step");
  EXPECT_EQ(RunFolderNoun("r/checkpoints/.tmp-step_00000100-3"), "step");
  EXPECT_EQ(RunFolderNoun("r/checkpoints"), "checkpoints");
  EXPECT_EQ(RunFolderNoun("r/lock"), "lock");
}

}  // namespace
}  // namespace lockstep
