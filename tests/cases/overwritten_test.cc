// Data that change while a run reads them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

// Files overwritten under a mapping: SIGBUS where it got shorter, other data
// where it did not (spotify/annoy#335). The run sleeps in its fifth step while
// the file changes; it stops with the file's name, having kept what it was.
class OverwrittenCaseTest : public testing::TestWithParam<bool> {};

TEST_P(OverwrittenCaseTest, ARunWhoseDataChangeStopsByName) {
  FileSystem& fs = *PosixFileSystem();
  const bool shorter = GetParam();
  const std::string name = shorter ? "shorter" : "same_size";
  const std::string prefix = WriteSamples(name, 48);
  RigOptions options = {.recipe = WriteSmallRecipe(name, SourceOf(prefix)),
                        .sets = {"checkpoint.every=1"},
                        .steps = 12};
  const TrainRig clean = SmallRig(name + "_clean"), rig = SmallRig(name);
  const std::string unseed = clean.Unseed(options);
  const std::string good = *fs.ReadFile(prefix + ".bin");
  std::thread writer([&] {
    while (!rig.Exists("checkpoints/step_00000004/index.json")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::string bad = good;
    for (char& c : bad) c = '\1';
    if (shorter) bad.resize(100);
    const int fd = open((prefix + ".bin").c_str(), O_WRONLY | O_TRUNC);
    EXPECT_EQ(write(fd, bad.data(), bad.size()),
              static_cast<ssize_t>(bad.size()));
    close(fd);
  });
  RigOptions slow = options;
  slow.faults = {"kind=sleep,ms=1500,step=5,at=step.begin"};
  const RigResult result = rig.Train(slow);
  writer.join();
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  EXPECT_TRUE(
      absl::StrContains(result.status.message(), prefix + ".bin, block 0"))
      << result.status.message();
  // Put back, the run goes on to what it would have been.
  ASSERT_TRUE(WriteFileAtomically(fs, prefix + ".bin", good).ok());
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_TRUE(SameLines(rig.Metrics(), clean.Metrics()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, OverwrittenCaseTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Shorter" : "SameSize";
                         });

}  // namespace
}  // namespace lockstep
