// A run's steps done again: they recur, and its folder is left alone.
#include "tools/replay_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "ckpt/run_lock.h"
#include "determinism/clock.h"
#include "tests/train/explain_for_test.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Steps made by three launches, two of them with faults that change numbers;
// one fault killed nothing but a file. Each is met again where it was.
TEST(ReplayRunTest, EveryStepRecursThroughResumesAndFaults) {
  const TrainRig rig("faulty");
  RigOptions options = {.sets = {"checkpoint.every=4", "checkpoint.keep=2"},
                        .steps = 16,
                        .until = 6};
  options.faults = {"kind=spike,step=3,at=layers.1.mixer.down_proj.forward",
                    "kind=skip_sample,step=5,sample=33"};
  rig.Unseed(options);
  options.faults = {};
  options.until = 9;
  rig.Unseed(options);
  options.faults = {
      "kind=flip,at=layers.0.mixer.in_proj.forward,element=7,bit=30"};
  options.until = std::nullopt;
  rig.Unseed(options);
  int64_t compared = 0;
  for (int64_t step = 1; step <= 16; ++step) {
    EXPECT_EQ(Verdict(rig, step), "recurs_to_the_bit") << step;
    ++compared;
  }
  EXPECT_EQ(compared, 16);
  // Sample 33 was read in place of another's index; the file says otherwise.
  const auto json = Explain(rig, 5);
  ASSERT_TRUE(json.ok());
  for (const Json& sample : (*json)["samples"]) {
    EXPECT_EQ(sample["as_in_file"], sample["global_index"] != 33);
  }
}

TEST(ReplayRunTest, ThreadsMicroBatchAndWhereItBeginsChangeNothing) {
  const TrainRig rig("plain");
  rig.Unseed({.sets = {"checkpoint.every=3"}, .steps = 8});
  const auto one = Explain(rig, 8, 1);
  const auto two = Explain(rig, 8, 2);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->dump(), two->dump());
  FileSystem& fs = *PosixFileSystem();
  for (const int64_t at_most : {0, 3, 6, 7}) {
    auto run = ReplayRun::Open(fs, rig.dir(),
                               {.before = 8, .checkpoint_at_most = at_most});
    ASSERT_TRUE(run.ok()) << std::string(run.status().message());
    EXPECT_EQ((*run)->began_at(), at_most / 3 * 3);
    EXPECT_EQ((*run)->Step()->recurs(), true) << at_most;
    EXPECT_EQ((*run)->first_difference(), 0);
  }
  auto other = ReplayRun::Open(fs, rig.dir(),
                               {.before = 8, .sets = {"optimizer.lr=1e-3"}});
  ASSERT_TRUE(other.ok()) << std::string(other.status().message());
  const auto step = (*other)->Step();
  EXPECT_EQ((*other)->first_difference(), 7);  // from step 6 on
  EXPECT_FALSE(step->recurs());
}

// What a folder holds: names, sizes, times, contents.
std::map<std::string, std::string> Snapshot(const std::string& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    const auto info = PosixFileSystem()->Stat(entry.path());
    files[entry.path()] = absl::StrCat(
        info->mtime_ns, " ",
        entry.is_directory() ? "" : *PosixFileSystem()->ReadFile(entry.path()));
  }
  return files;
}

TEST(ReplayRunTest, ReadsAFolderThatATrainerHoldsAndWritesNothing) {
  const TrainRig rig("held");
  rig.Unseed({.sets = {"checkpoint.every=2"}, .steps = 5});
  RealClock clock;
  const auto lock = RunLock::Acquire(*PosixFileSystem(), *PosixFileLocker(),
                                     rig.dir(), ThisProcess(), clock);
  ASSERT_TRUE(lock.ok()) << std::string(lock.status().message());
  // A line that the trainer has not finished.
  rig.Write("metrics.jsonl", rig.Read("metrics.jsonl") + "{\"step\":6,");
  const auto before = Snapshot(rig.dir());
  EXPECT_EQ(Verdict(rig, 5), "recurs_to_the_bit");
  EXPECT_EQ(ExitCode(rig, 6), 2);
  EXPECT_EQ(Snapshot(rig.dir()), before);
  EXPECT_GT(before.size(), 10u);
}

// The text and the recipe are gone and the folder has moved: what the run read
// is in it.
TEST(ReplayRunTest, NeedsNeitherTheTextNorTheOldPlace) {
  FileSystem& fs = *PosixFileSystem();
  const std::string text = testing::TempDir() + "/gone.txt";
  std::string contents;
  for (int i = 0; i < 400; ++i) absl::StrAppend(&contents, "line ", i, "\n\n");
  ASSERT_TRUE(WriteFileAtomically(fs, text, contents).ok());
  const std::string recipe =
      WriteRecipe("gone", absl::StrCat("[[data.source]]\ntext = \"", text,
                                       "\"\ndocument_bytes = 200\n"));
  const TrainRig old("old_place");
  old.Unseed({.recipe = recipe, .steps = 4});
  const TrainRig rig("new_place");
  ASSERT_TRUE(fs.Rename(old.dir(), rig.dir()).ok());
  ASSERT_TRUE(fs.Remove(text).ok());
  ASSERT_TRUE(fs.Remove(recipe).ok());
  const auto json = Explain(rig, 4);
  ASSERT_TRUE(json.ok()) << std::string(json.status().message());
  EXPECT_EQ((*json)["verdict"], "recurs_to_the_bit");
  const std::string shown = (*json)["samples"][0]["text"];
  EXPECT_NE(shown.find("line "), std::string::npos) << shown;
}

}  // namespace
}  // namespace lockstep
