// What tests of `explain` share: a corpus to learn fast, and the verb's answer.
//
// What it is: token files with and without a planted document, and one line
// calls. What it is not: a run (train_rig.h).
#ifndef LOCKSTEP_TESTS_TRAIN_EXPLAIN_FOR_TEST_H_
#define LOCKSTEP_TESTS_TRAIN_EXPLAIN_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {

inline constexpr int32_t kRare = 200;          // stands in one document only
inline constexpr int64_t kPlanted = 300;       // that document
inline constexpr int64_t kPlantedTokens = 40;  // a sample and a bit

// Documents of 20 tokens that a small model learns in some steps, one of them
// nothing but a rare token.
inline std::string WriteEasySource(const std::string& name, int64_t documents,
                                   bool plant) {
  FileSystem& fs = *PosixFileSystem();
  const std::string prefix = testing::TempDir() + "/" + name;
  auto writer = TokenFileWriter::Create(fs, prefix, 257, 1 << 20);
  EXPECT_TRUE(writer.ok());
  for (int64_t d = 0; d < documents; ++d) {
    const bool bad = plant && d == kPlanted;
    for (int64_t t = 0; t < (bad ? kPlantedTokens : 20); ++t) {
      // Steps of 1 to 3 through ten letters.
      const auto letter = static_cast<int32_t>(97 + (d + t * (1 + d % 3)) % 10);
      EXPECT_TRUE((*writer)->Append({{bad ? kRare : letter}}).ok());
    }
    EXPECT_TRUE((*writer)->EndDocument().ok());
  }
  EXPECT_TRUE((*writer)->Finish().ok());
  return prefix;
}

inline absl::StatusOr<nlohmann::json> Explain(const TrainRig& rig, int64_t step,
                                              int64_t threads = 2) {
  const auto answer = ExplainVerb(
      {.run_dir = rig.dir(), .step = step, .threads = threads, .json = true});
  if (!answer.ok()) return answer.status();
  return nlohmann::json::parse(answer->text);
}

inline std::string Verdict(const TrainRig& rig, int64_t step) {
  const auto json = Explain(rig, step);
  EXPECT_TRUE(json.ok()) << std::string(json.status().message());
  return json.ok() ? (*json)["verdict"] : "";
}

inline int ExitCode(const TrainRig& rig, int64_t step) {
  return ExitCodeFor(Explain(rig, step).status());
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_TRAIN_EXPLAIN_FOR_TEST_H_
