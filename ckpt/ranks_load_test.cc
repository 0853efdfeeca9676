// Several ranks and one checkpoint: what is another's, or another step's, is
// noticed.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ckpt/load.h"
#include "ckpt/saving_for_test.h"
#include "ckpt/verify.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kStep5[] = "/run/checkpoints/step_00000005/";
constexpr char kStep6[] = "/run/checkpoints/step_00000006/";
constexpr char kFirst[] = "rank_00000.safetensors";
constexpr char kSecond[] = "rank_00001.safetensors";

void SaveSteps(MemoryFileSystem& fs, const std::vector<int64_t>& steps) {
  MakeRun(fs);
  const absl::Status done = OnRanks(2, fs, [&](Saving& saving, Communicator&) {
    for (const int64_t step : steps) {
      LS_RETURN_IF_ERROR(saving.SaveStep(step));
    }
    return saving.Finish();
  });
  ASSERT_TRUE(done.ok()) << done;
}

// Step 6 by two ranks, each with a file system of its own; what each was told.
std::vector<absl::Status> LoadOnBoth(FileSystem& first, FileSystem& second) {
  std::vector<absl::Status> told(2);
  const absl::Status ran =
      RunThreadRanks(2, [&](Communicator& world) -> absl::Status {
        StateRegistry registry;
        SplitState state(registry, world.rank(), 2);
        told[static_cast<size_t>(world.rank())] =
            LoadCheckpoint(world.rank() == 0 ? first : second,
                           "/run/checkpoints/step_00000006", registry,
                           {.world = &world})
                .status();
        return absl::OkStatus();
      });
  EXPECT_TRUE(ran.ok()) << ran;
  return told;
}

void ExpectTold(const std::vector<absl::Status>& told,
                const std::string& part) {
  for (const absl::Status& status : told) {
    EXPECT_EQ(ExitCodeFor(status), 4) << status;
    EXPECT_NE(Text(status).find(part), std::string::npos) << status;
  }
}

std::vector<std::string> DamagedFiles(FileSystem& fs) {
  std::vector<std::string> files;
  const VerifyResult result =
      *VerifyCheckpoint(fs, "/run/checkpoints/step_00000006");
  for (const Damage& damage : result.damage) {
    if (files.empty() || files.back() != damage.file) {
      files.push_back(damage.file);
    }
  }
  return files;
}

// hiyouga/LlamaFactory#655, skypilot-org/skypilot#2281: nodes went on from
// different checkpoints. One name, and another folder on each of two hosts.
TEST(RanksLoad, AllRanksSeeTheCheckpointOfTheFirst) {
  MemoryFileSystem one, same, other;
  SaveSteps(one, {6});
  SaveSteps(same, {6});
  SaveSteps(other, {5});
  ASSERT_TRUE(other
                  .Rename("/run/checkpoints/step_00000005",
                          "/run/checkpoints/step_00000006")
                  .ok());
  for (const absl::Status& status : LoadOnBoth(one, same)) {
    EXPECT_TRUE(status.ok()) << status;
  }
  ExpectTold(LoadOnBoth(one, other), "another checkpoint here than the first");
  ExpectTold(LoadOnBoth(other, one), "another checkpoint here than the first");
  MemoryFileSystem none;
  MakeRun(none);
  ExpectTold(LoadOnBoth(one, none), "index.json");
  ExpectTold(LoadOnBoth(none, one), "index.json");
}

TEST(RanksLoad, SwappedShardsAndOneOfAnEarlierStepAreNamed) {
  MemoryFileSystem fs;
  SaveSteps(fs, {5, 6});
  EXPECT_TRUE(DamagedFiles(fs).empty());
  const std::string first = *fs.ReadFile(std::string(kStep6) + kFirst);
  const std::string second = *fs.ReadFile(std::string(kStep6) + kSecond);
  Overwrite(fs, std::string(kStep6) + kFirst, second);
  Overwrite(fs, std::string(kStep6) + kSecond, first);
  EXPECT_EQ(DamagedFiles(fs), (std::vector<std::string>{kFirst, kSecond}));
  ExpectTold(LoadOnBoth(fs, fs), "another file stands here");
  Overwrite(fs, std::string(kStep6) + kFirst, first);
  Overwrite(fs, std::string(kStep6) + kSecond,
            *fs.ReadFile(std::string(kStep5) + kSecond));
  EXPECT_EQ(DamagedFiles(fs), std::vector<std::string>{kSecond});
  ExpectTold(LoadOnBoth(fs, fs), kSecond);
  Overwrite(fs, std::string(kStep6) + kSecond, second);
  for (const absl::Status& status : LoadOnBoth(fs, fs)) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace lockstep
