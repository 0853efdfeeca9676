// `--fault kind=document`: one changed document, and who notices.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/explain_for_test.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

class DocumentFaultTest : public testing::Test {
 protected:
  // Epochs of 16 samples, so that step 3 reads the first epoch's again.
  static RigOptions Options() {
    return {
        .recipe = WriteRecipe("document", "validation_fraction = 0.01\n" +
                                              Source(WriteSource("doc", 16))),
        .sets = {"checkpoint.every=2"},
        .steps = 6};
  }
  // Samples of a step that are not as in the file, and what they hold.
  static int64_t ChangedSamples(const TrainRig& rig, int64_t step) {
    const auto json = Explain(rig, step);
    EXPECT_TRUE(json.ok()) << std::string(json.status().message());
    if (!json.ok()) return -1;
    EXPECT_EQ((*json)["verdict"], "recurs_to_the_bit") << step;
    int64_t changed = 0;
    for (const Json& sample : (*json)["samples"]) {
      bool holds = false;
      for (const Json& part : sample["documents"]) {
        const int64_t first = part["offset"], count = part["tokens"];
        holds = holds ||
                (part["document"] == 7 && first <= 11 && 11 < first + count);
      }
      EXPECT_TRUE(sample["as_in_file"] == true || holds) << step;
      changed += sample["as_in_file"] == true ? 0 : 1;
    }
    return changed;
  }
  static std::vector<std::string> DataOf(const TrainRig& rig) {
    std::vector<std::string> data;
    for (const std::string& line : rig.Metrics()) {
      data.push_back(Json::parse(line)["fingerprint"]["data"]);
    }
    return data;
  }
};

TEST_F(DocumentFaultTest, ItIsReadOtherwiseInItsStepsAndNowhereElse) {
  const TrainRig plain("document_plain"), from("document_from");
  plain.Unseed(Options());
  RigOptions options = Options();
  options.faults = {"kind=document,step=3,document=7,element=11,when=from"};
  from.Unseed(options);
  const auto a = DataOf(plain), b = DataOf(from);
  ASSERT_EQ(a.size(), 6u);
  ASSERT_EQ(b.size(), 6u);
  int64_t steps_that_read_it = 0;
  for (int64_t step = 1; step <= 6; ++step) {
    const auto i = static_cast<size_t>(step - 1);
    const int64_t changed = ChangedSamples(from, step);
    EXPECT_EQ(a[i] != b[i], changed > 0) << step;
    EXPECT_TRUE(step >= 3 || changed == 0) << step;
    steps_that_read_it += changed > 0 ? 1 : 0;
    EXPECT_EQ(ChangedSamples(plain, step), 0) << step;
  }
  // Once an epoch of two steps.
  EXPECT_EQ(steps_that_read_it, 2);
}

TEST_F(DocumentFaultTest, OnceIsOneStepAndWhatFollowsIsLearnedFromIt) {
  const TrainRig plain("document_plain_once"), from("document_from_once"),
      once("document_once");
  plain.Unseed(Options());
  RigOptions options = Options();
  options.faults = {"kind=document,step=3,document=7,element=11,when=from"};
  from.Unseed(options);
  int64_t step = 3;
  while (step < 6 && ChangedSamples(from, step) == 0) ++step;
  options.faults = {
      absl::StrCat("kind=document,document=7,element=11,step=", step)};
  once.Unseed(options);
  const auto a = DataOf(plain), b = DataOf(once);
  ASSERT_EQ(b.size(), 6u);
  const auto lines = once.Metrics(), clean = plain.Metrics();
  for (size_t i = 0; i < 6; ++i) {
    const auto at = static_cast<int64_t>(i) + 1;
    EXPECT_EQ(a[i] != b[i], at == step) << at;
    EXPECT_EQ(lines[i] != clean[i], at >= step) << at;
  }
  EXPECT_EQ(ChangedSamples(once, step), 1);
}

TEST_F(DocumentFaultTest, WhatThereIsNotIsRefused) {
  for (const char* where :
       {"document=999", "document=1,source=1", "document=1,element=20"}) {
    const TrainRig rig("document_refused");
    RigOptions options = Options();
    options.faults = {absl::StrCat("kind=document,step=2,", where)};
    EXPECT_EQ(ExitCodeFor(rig.Train(options).status), 2) << where;
    EXPECT_EQ(rig.Metrics().size(), 1u) << where;
  }
}

}  // namespace
}  // namespace lockstep
