// What bisect saves of an operation, and what doing it again says of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/file_system.h"
#include "tests/train/train_rig.h"
#include "tools/bisect/bisect.h"
#include "tools/doctor/operation_check.h"

namespace lockstep {
namespace {

struct Case {
  std::string name;
  std::string at, fault;
  int64_t ranks = 1;
  std::vector<std::string> sets = {};
};

RigOptions OptionsOf(const Case& c) {
  RigOptions options = {.sets = c.sets, .threads = 1, .ranks = c.ranks};
  options.sets.insert(options.sets.end(),
                      {"checkpoint.every=2", "model.hidden_dropout=0.1"});
  return options;
}

BisectResult Bisected(const Case& c) {
  const TrainRig a("saved_a_" + c.name), b("saved_b_" + c.name);
  RigOptions options = OptionsOf(c);
  a.Unseed(options);
  options.faults = {absl::StrCat("step=5,at=", c.at, ",", c.fault)};
  b.Unseed(options);
  auto result =
      Bisect(*PosixFileSystem(), {.a = a.dir(), .b = b.dir(), .threads = 1});
  EXPECT_TRUE(result.ok()) << c.name << result.status().message();
  return result.ok() ? *std::move(result) : BisectResult();
}

std::vector<Case> Cases() {
  const std::string flip = "kind=flip,bit=22,element=70";
  const std::vector<std::string> two = {"parallel.pipeline=2",
                                        "guarantee=layout_invariant"};
  return {{"in_proj", "layers.0.mixer.in_proj.forward", flip},
          {"conv",
           "layers.2.mixer.conv1d.backward",
           "kind=spike,factor=1.5",
           1,
           {"precision.mode=bf16", "data.reset_at_documents=true"}},
          {"scan",
           "layers.0.mixer.ssd_scan.forward",
           flip,
           2,
           {"parallel.data=2", "guarantee=bitwise"}},
          {"attention",
           "layers.3.mixer.attention.backward",
           "kind=spike,factor=1.5",
           1,
           {"guarantee=layout_invariant"}},
          {"last", "layers.4.mixer.up_proj.backward",
           "kind=swap_rows,element=70", 2, two},
          {"middle", "layers.1.mixer.down_proj.backward", flip, 2, two},
          {"norm", "layers.3.norm.forward", flip, 1, {"train.recompute=true"}},
          {"tensor_in",
           "layers.0.mixer.in_proj.forward",
           flip,
           2,
           {"parallel.tensor=2"}},
          {"tensor_out",
           "layers.3.mixer.o_proj.forward",
           "kind=spike,factor=1.5,rank=1",
           2,
           {"parallel.tensor=2", "guarantee=layout_invariant",
            "precision.mode=bf16"}},
          {"sequence",
           "layers.1.mixer.up_proj.backward",
           "kind=swap_rows,element=70",
           2,
           {"parallel.tensor=2", "parallel.sequence=true"}},
          {"replicas",
           "layers.2.mixer.ssd_scan.backward",
           "kind=spike,factor=1.5,rank=3",
           4,
           {"parallel.tensor=2", "parallel.data=2", "parallel.sequence=true"}},
          {"residual", "layers.2.residual.forward", flip}};
}

// A planted fault is none of the program's: done again alone, the operation
// comes to what the sound run left, at every level and number of threads.
TEST(SavedOperationTest, DoneAgainItIsTheSoundRuns) {
  for (const Case& c : Cases()) {
    const BisectResult result = Bisected(c);
    ASSERT_TRUE(result.saved_operation.has_value())
        << c.name << ": " << BisectJson(result);
    EXPECT_EQ(result.sound_memory, std::optional<bool>(true)) << c.name;
    const SavedOperation& saved = *result.saved_operation;
    EXPECT_EQ(saved.not_alone, "") << c.name;
    const auto check = CheckOperation(saved, 2);
    ASSERT_TRUE(check.ok()) << c.name << check.status().message();
    EXPECT_TRUE(check->sound()) << c.name << OperationCheckText(*check);
    EXPECT_EQ(check->agrees(), Agreement::kA) << c.name;
    EXPECT_GE(check->runs.size(), 9u) << c.name;
  }
}

SavedOperation SavedByAFile() {
  const BisectResult result = Bisected(Cases()[0]);
  const std::string path = testing::TempDir() + "/operation.safetensors";
  FileSystem& fs = *PosixFileSystem();
  EXPECT_TRUE(WriteSavedOperation(fs, path, *result.saved_operation).ok());
  auto read = ReadSavedOperation(fs, path);
  EXPECT_TRUE(read.ok()) << read.status().message();
  return *std::move(read);
}

// The check itself fires: on an output that nobody's program leaves, on inputs
// that the layer does not come to, and on outputs that change places.
TEST(SavedOperationTest, AnotherFileGetsAnotherVerdict) {
  const SavedOperation saved = SavedByAFile();
  const auto verdict = [](const SavedOperation& operation) {
    const auto check = CheckOperation(operation, 1);
    EXPECT_TRUE(check.ok()) << check.status().message();
    return *check;
  };
  EXPECT_EQ(verdict(saved).agrees(), Agreement::kA);
  SavedOperation swapped = saved;
  std::swap(swapped.outputs_a, swapped.outputs_b);
  EXPECT_EQ(verdict(swapped).agrees(), Agreement::kB);
  EXPECT_TRUE(verdict(swapped).sound());
  SavedOperation neither = saved;
  neither.outputs_a[0].bytes[0] ^= 1;
  EXPECT_EQ(verdict(neither).agrees(), Agreement::kNeither);
  EXPECT_FALSE(verdict(neither).sound());
  SavedOperation inputs = saved;
  inputs.inputs[0].bytes[0] ^= 1;
  EXPECT_FALSE(verdict(inputs).sound());
  EXPECT_NE(OperationCheckText(verdict(inputs)).find("from other inputs"),
            std::string::npos);
  SavedOperation lacks = saved;
  lacks.layer.clear();
  EXPECT_FALSE(CheckOperation(lacks, 1).ok());
}

// What happened once is kept as a replay does it: the sound run's. What the
// machine left is there if its own trace has bytes.
TEST(SavedOperationTest, WhatHappenedOnceIsKeptToo) {
  Case c = Cases()[0];
  c.name = "once";
  c.fault += ",replayed=no";
  for (const char* values : {"none", "bytes"}) {
    c.sets = {"trace.level=operation", "trace.scope=layers.0",
              absl::StrCat("trace.values=", values)};
    const BisectResult result = Bisected(c);
    EXPECT_EQ(result.repeatable, std::optional<bool>(false));
    EXPECT_LE(result.replays, 2);
    ASSERT_TRUE(result.saved_operation.has_value()) << BisectJson(result);
    const auto check = CheckOperation(*result.saved_operation, 1);
    ASSERT_TRUE(check.ok()) << check.status().message();
    EXPECT_EQ(check->agrees(), Agreement::kA) << values;
    const bool bytes = values == std::string("bytes");
    EXPECT_EQ(result.saved_operation->outputs_b.size(), bytes ? 1u : 0u);
    ASSERT_EQ(result.elements.has_value(), bytes) << values;
    if (bytes) {
      EXPECT_EQ(result.elements->differ, 1);
    }
  }
}

TEST(SavedOperationTest, WhatCannotBeDoneAloneIsSaid) {
  const std::string flip = "kind=flip,bit=22,element=70";
  const std::string weight = "backbone.layers.1.mixer.up_proj.weight.";
  const std::vector<std::pair<Case, std::string>> cases = {
      {{"head", "lm_head.logits.forward", flip}, "the head's"},
      {{"gradient", weight + "gradient.reduction", flip}, "a final gradient"},
      {{"update", weight + "adamw.optimizer", flip}, "overwrites the moments"},
      {{"norm", "gradients.norm.clip", "kind=spike,factor=1.5"},
       "all gradients"}};
  for (const auto& [c, why] : cases) {
    const BisectResult result = Bisected(c);
    ASSERT_TRUE(result.saved_operation.has_value()) << c.name;
    EXPECT_NE(result.saved_operation->not_alone.find(why), std::string::npos)
        << c.name << ": " << result.saved_operation->not_alone;
    EXPECT_FALSE(result.saved_operation->outputs_b.empty()) << c.name;
    const auto check = CheckOperation(*result.saved_operation, 1);
    ASSERT_FALSE(check.ok()) << c.name;
    EXPECT_NE(
        std::string(check.status().message()).find("cannot be done by itself"),
        std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep
