// What tests of the skip list ask of a run: its events, and what it has read.
//
// What it is: readers of ledger and metrics. What it is not: a run. Why so: the
// `data` field of a step is held against the samples themselves, read from the
// token file, so that a wrong list cannot pass.
#ifndef LOCKSTEP_TESTS_TRAIN_SKIP_FOR_TEST_H_
#define LOCKSTEP_TESTS_TRAIN_SKIP_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "data/dataset.h"
#include "determinism/file_system.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/step_fingerprint.h"

namespace lockstep {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

inline std::vector<Json> Steps(const TrainRig& rig) {
  std::vector<Json> steps;
  for (const std::string& line : rig.Metrics()) {
    steps.push_back(Json::parse(line));
  }
  return steps;
}

inline std::vector<Json> SkipEvents(const TrainRig& rig) {
  std::vector<Json> events;
  const std::string ledger = rig.Read("ledger.jsonl");
  for (const auto line : absl::StrSplit(ledger, '\n', absl::SkipEmpty())) {
    Json event = Json::parse(std::string(line));
    if (event["event"] == "skip_list") events.push_back(std::move(event));
  }
  return events;
}

// An epoch of 16 samples, so that ranges hold batches and epochs whole.
inline std::string SmallEpochs() {
  return WriteRecipe(
      "skip", "validation_fraction = 0.01\n" + Source(WriteSource("skip", 16)));
}

inline constexpr int64_t kSteps = 9;  // of 8 samples

// What the steps of a run must have read, one list a step.
inline void ExpectRead(const TrainRig& rig,
                       const std::vector<std::vector<uint64_t>>& lists) {
  DataConfig config;
  config.sequence = kSequence;
  config.validation_fraction = 0.01;
  config.sources = {{.path = testing::TempDir() + "/skip"}};
  const auto data =
      Dataset::Open(*PosixFileSystem(), config, rig.dir(), 1, 257);
  ASSERT_TRUE(data.ok()) << std::string(data.status().message());
  const std::vector<Json> steps = Steps(rig);
  ASSERT_EQ(steps.size(), lists.size());
  uint64_t seen = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    const auto& samples = lists[i];
    const auto count = static_cast<int64_t>(samples.size());
    std::vector<int32_t> tokens(samples.size() * (kSequence + 1));
    std::vector<uint8_t> mask(samples.size() * kSequence);
    std::vector<int32_t> segments;
    for (int64_t s = 0; s < count; ++s) {
      ASSERT_TRUE(
          (*data)
              ->TrainSample(samples[static_cast<size_t>(s)],
                            RowsOfSample(s, kSequence, tokens, mask, segments))
              .ok());
    }
    seen += samples.size();
    EXPECT_EQ(steps[i]["sample_first"], samples.front()) << i;
    EXPECT_EQ(steps[i]["sample_last"], samples.back()) << i;
    EXPECT_EQ(steps[i]["samples_seen"], seen) << i;
    EXPECT_EQ(steps[i]["fingerprint"]["data"],
              DataField(samples, kSequence, tokens, mask))
        << i;
  }
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_TRAIN_SKIP_FOR_TEST_H_
