// A run that passes over samples, done again: the same samples, from whatever
// checkpoint, and whichever launch adopted what.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/train/explain_for_test.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

TEST(ExplainSkipsTest, EveryStepOfARunThatSkipsRecurs) {
  const TrainRig rig("explain_skips");
  RigOptions options = {
      .recipe =
          WriteRecipe("explain_skips", "validation_fraction = 0.01\n" +
                                           Source(WriteSource("exs", 16))),
      .sets = {"checkpoint.every=4", "model.hidden_dropout=0.1"},
      .steps = 10};
  // Adopted by a launch that died before any checkpoint, and by one in mid-run.
  options.skip_samples = {"5-9", "20-20"};
  options.faults = {"kind=kill,step=3"};
  rig.TrainUntilKilled(options);
  options.skip_samples = {};
  options.faults = {};
  options.until = 6;
  rig.Unseed(options);
  options.until = 10;
  options.skip_samples = {"58-70", "30-57"};
  rig.Unseed(options);
  int64_t compared = 0;
  std::set<uint64_t> read;
  for (int64_t step = 1; step <= 10; ++step) {
    const auto json = Explain(rig, step);
    ASSERT_TRUE(json.ok()) << std::string(json.status().message());
    EXPECT_EQ((*json)["verdict"], "recurs_to_the_bit") << step;
    for (const Json& sample : (*json)["samples"]) {
      read.insert(sample["global_index"].get<uint64_t>());
      ++compared;
    }
  }
  EXPECT_EQ(compared, 80);
  EXPECT_EQ(read.size(), 80u);
  // Of the late range, only what the first six steps had not read: up to 53.
  for (const uint64_t skipped : {5, 9, 20, 54, 57, 58, 70}) {
    EXPECT_FALSE(read.contains(skipped)) << skipped;
  }
  for (const uint64_t kept : {4, 10, 19, 21, 30, 53, 71}) {
    EXPECT_TRUE(read.contains(kept)) << kept;
  }
  // From the seed as well, where no checkpoint holds the list.
  ASSERT_TRUE(PosixFileSystem()->RemoveTree(rig.dir() + "/checkpoints").ok());
  EXPECT_EQ(Verdict(rig, 10), "recurs_to_the_bit");
}

}  // namespace
}  // namespace lockstep
