// What `data order` prints, as a test reads it.

#ifndef TESTS_TRAIN_DATA_ORDER_FOR_TEST_H_
#define TESTS_TRAIN_DATA_ORDER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {

// As settings of a run, or of a recipe beside it.
inline const std::vector<std::string> kSmall = {
    "train.steps=9", "data.sequence=32", "batch.global=8"};

// One object a line; none where it fails, which fails the test.
inline std::vector<nlohmann::json> Order(const DataOrderOptions& options) {
  const auto answer = DataOrderVerb(options);
  EXPECT_TRUE(answer.ok()) << std::string(answer.status().message());
  std::vector<nlohmann::json> lines;
  if (!answer.ok()) return lines;
  for (const auto line :
       absl::StrSplit(answer->text, '\n', absl::SkipEmpty())) {
    lines.push_back(nlohmann::json::parse(std::string(line)));
  }
  return lines;
}

}  // namespace lockstep

#endif  // TESTS_TRAIN_DATA_ORDER_FOR_TEST_H_
