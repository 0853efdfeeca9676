// A large checkpoint is written down anew, and compared, in little memory.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ckpt/diff.h"
#include "ckpt/reshard.h"
#include "ckpt/save.h"
#include "ckpt/verify.h"
#include "determinism/file_system.h"
#include "determinism/state.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 12'000, kColumns = 4'000;  // 192 MB of floats
constexpr int64_t kMostGrowthKb = 32 << 10;

class LargeState : public Stateful {
 public:
  LargeState(StateRegistry& registry, float salt)
      : Stateful(registry, "large"), values_(kRows * kColumns) {
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i] = static_cast<float>(i % 1'000'003);
    }
    values_[kRows * kColumns / 2 + 17] = salt;
  }
  void VisitState(StateVisitor& v) override {
    v.Tensor({"weight",
              StateGroup::kMaster,
              DType::kF32,
              {kRows, kColumns},
              {0, 0},
              {kRows, kColumns},
              values_.data()});
  }

 private:
  std::vector<float> values_;
};

// In a child, whose memory is its own.
std::string SaveLarge(const std::string& name, float salt) {
  const std::string run = testing::TempDir() + "/" + name;
  const pid_t child = fork();
  if (child == 0) {
    StateRegistry registry;
    const LargeState state(registry, salt);
    FileSystem& fs = *PosixFileSystem();
    const bool saved = fs.MakeDirs(run).ok() &&
                       SaveCheckpoint(fs,
                                      {.run_dir = run,
                                       .step = 1,
                                       .run_id = "large",
                                       .manifest_json = "{}",
                                       .ledger_head = std::string(64, '0')},
                                      registry)
                           .ok();
    _exit(saved ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return run + "/checkpoints/step_00000001";
}

// The most memory that this process has had, in kB.
int64_t PeakKb() {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    if (word != "VmHWM:") continue;
    file >> word;
    return std::atoll(word.c_str());
  }
  return -1;
}

TEST(ReshardMemory, APartAtATimeWhateverTheSize) {
  FileSystem& fs = *PosixFileSystem();
  const std::string one = SaveLarge("one", 1.f), two = SaveLarge("two", 2.f);
  const int64_t before = PeakKb();
  ASSERT_GT(before, 0);
  // Rows on one rank, columns on two others, in the middle of a row's width.
  const std::vector<std::vector<RankBox>> ranks = {
      {{"large/weight", {{0, 0}, {kRows / 3, kColumns}}}},
      {{"large/weight", {{kRows / 3, 0}, {kRows - kRows / 3, 1111}}}},
      {{"large/weight",
        {{kRows / 3, 1111}, {kRows - kRows / 3, kColumns - 1111}}}}};
  const std::string cut = testing::TempDir() + "/cut";
  const auto made = ReshardCheckpoint(fs, {one, cut, ranks});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_GT(made->size_bytes, uint64_t{4} * kRows * kColumns);
  const auto equal = DiffCheckpoints(fs, cut, one);
  ASSERT_TRUE(equal.ok()) << equal.status();
  EXPECT_TRUE(equal->differences.empty());
  const auto diff = DiffCheckpoints(fs, cut, two);
  ASSERT_TRUE(diff.ok()) << diff.status();
  ASSERT_EQ(diff->differences.size(), 1u);
  EXPECT_EQ(diff->differences[0].different, 1);
  EXPECT_EQ(diff->differences[0].first, (std::vector<int64_t>{kRows / 2, 17}));
  const int64_t grown = PeakKb() - before;
  EXPECT_LT(grown, kMostGrowthKb);
  std::printf("%lld MB of tensors, peak memory grew by %lld kB\n",
              static_cast<long long>(4 * kRows * kColumns / 1'000'000),
              static_cast<long long>(grown));
  for (const std::string& dir : {one, two, cut}) {
    EXPECT_TRUE(fs.RemoveTree(dir).ok());
  }
}

}  // namespace
}  // namespace lockstep
