// spotify/annoy#335: what a run does whose token file is written to while it
// trains: (a) cut short, (b) other bytes of the same size: it stops, naming the
// file; (c) another file renamed over it: it goes on with the old one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

constexpr int64_t kSteps = 60;
// At least this many steps are done when the file changes.
constexpr int64_t kStepsBefore = 5;

int64_t LinesIn(const std::string& path) {
  const auto text = PosixFileSystem()->ReadFile(path);
  return text.ok() ? std::count(text->begin(), text->end(), '\n') : 0;
}

// Runs all steps, and `change` in the middle of them.
template <typename Change>
RigResult TrainWhile(const TrainRig& rig, const RigOptions& options,
                     Change change) {
  RigResult result;
  std::atomic<bool> ended = false;
  std::thread run([&] {
    result = rig.Train(options);
    ended = true;
  });
  while (!ended && LinesIn(rig.dir() + "/metrics.jsonl") < kStepsBefore) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(ended) << std::string(result.status.message());
  change();
  EXPECT_LT(LinesIn(rig.dir() + "/metrics.jsonl"), kSteps) << "too late";
  run.join();
  return result;
}

// In place, as a writer that renames nothing does it.
void Overwrite(const std::string& path, const std::string& contents) {
  const auto file = PosixFileSystem()->Create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append(contents).ok());
  ASSERT_TRUE((*file)->Close().ok());
}

TEST(ChangedDataTest, ATokenFileOverwrittenUnderARunStopsIt) {
  FileSystem& fs = *PosixFileSystem();
  for (const bool shorter : {true, false}) {
    const std::string prefix = WriteSource("overwritten", 1000);
    const TrainRig rig("overwritten");
    const std::string recipe = WriteRecipe("overwritten", Source(prefix));
    const RigResult result =
        TrainWhile(rig, {.recipe = recipe, .steps = kSteps}, [&] {
          const auto old = fs.ReadFile(prefix + ".bin");
          ASSERT_TRUE(old.ok());
          Overwrite(prefix + ".bin", shorter ? old->substr(0, 100)
                                             : std::string(old->size(), '\1'));
        });
    EXPECT_EQ(ExitCodeFor(result.status), 2) << "shorter: " << shorter;
    EXPECT_NE(std::string(result.status.message()).find(prefix + ".bin"),
              std::string::npos)
        << std::string(result.status.message());
  }
}

TEST(ChangedDataTest, ATokenFileReplacedByRenameIsReadOnAsItWas) {
  const std::string prefix = WriteSource("replaced", 1000);
  const std::string recipe =
      WriteRecipe("replaced", "reset_at_documents = true\n" + Source(prefix));
  const RigOptions options = {.recipe = recipe, .steps = kSteps};
  const TrainRig unbroken("replaced_unbroken");
  const std::string unseed = unbroken.Unseed(options);
  const TrainRig rig("replaced");
  const RigResult result = TrainWhile(rig, options, [&] {
    // Writes new files and renames them over the old ones.
    WriteSource("replaced", 3);
  });
  EXPECT_TRUE(result.status.ok()) << std::string(result.status.message());
  EXPECT_EQ(result.unseed, unseed);
  EXPECT_EQ(rig.Metrics(), unbroken.Metrics());
  // The new file is another one, and the next start sees that.
  EXPECT_EQ(ExitCodeFor(rig.Train({.recipe = recipe, .steps = 61}).status), 3);
}

}  // namespace
}  // namespace lockstep
