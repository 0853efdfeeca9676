// A checkpoint in other boxes: the same state, or nothing.

#include "ckpt/reshard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ckpt/damage_for_test.h"
#include "ckpt/load.h"
#include "ckpt/reshard_for_test.h"
#include "ckpt/tensor_parts.h"
#include "determinism/fault_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kTarget[] = "/elsewhere/three";

class ReshardTest : public DamageTest {
 protected:
  absl::StatusOr<ReshardedCheckpoint> Reshard(
      const std::string& from, const std::string& to,
      std::vector<std::vector<RankBox>> ranks) {
    return ReshardCheckpoint(fs, {from, to, std::move(ranks)});
  }
  void ExpectRefused(int code, const std::string& part,
                     const std::string& to = kTarget) {
    const auto result = Reshard(kDir, to, ThreeRanks());
    EXPECT_EQ(ExitCodeFor(result.status()), code) << result.status();
    EXPECT_NE(Text(result.status()).find(part), std::string::npos)
        << part << " in " << result.status();
    ExpectNothingAt("/elsewhere");
  }
  void ExpectNothingAt(const std::string& folder) {
    if (fs.Exists(folder)) {
      EXPECT_TRUE(NamesIn(fs, folder).empty()) << NamesIn(fs, folder)[0];
    }
  }
};

TEST_F(ReshardTest, ThreeRanksAndBackAreTheSameBytes) {
  const auto three = Reshard(kDir, kTarget, ThreeRanks());
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ(three->index.files.size(), 4u);  // shards and the manifest
  EXPECT_EQ(three->index.state_fingerprint, index.state_fingerprint);
  const VerifyResult verified = *VerifyCheckpoint(fs, kTarget);
  EXPECT_TRUE(verified.ok) << verified.Summary();
  TestState loaded(1);
  PoisonState(loaded.registry);
  ASSERT_TRUE(LoadCheckpoint(fs, kTarget, loaded.registry).ok());
  loaded.model.Rebuild();
  EXPECT_EQ(loaded.Fingerprint(), TestState(6).Fingerprint());

  const std::string back = "/back/step_00000006";
  ASSERT_TRUE(Reshard(kTarget, back, {}).ok());
  EXPECT_EQ(NamesIn(fs, back), NamesIn(fs, kDir));
  for (const std::string& name : NamesIn(fs, kDir)) {
    EXPECT_EQ(*fs.ReadFile(JoinPath(back, name)), Read(name)) << name;
  }
}

TEST_F(ReshardTest, WhatCannotBeIsRefusedAndLeavesNothing) {
  ExpectRefused(2, "is of step 6", "/elsewhere/step_00000007");
  ASSERT_TRUE(Reshard(kDir, kTarget, ThreeRanks()).ok());
  EXPECT_EQ(ExitCodeFor(Reshard(kDir, kTarget, {}).status()), 2);
  EXPECT_EQ(ExitCodeFor(Reshard(kDir, "", {}).status()), 2);
  EXPECT_TRUE(VerifyCheckpoint(fs, kTarget)->ok);  // and still there
  ASSERT_TRUE(fs.RemoveTree(kTarget).ok());
  // Boxes of another program.
  auto ranks = ThreeRanks();
  ranks[2][0].tensor = "model/c.weight";
  EXPECT_EQ(ExitCodeFor(Reshard(kDir, kTarget, ranks).status()), 4);
  ranks = ThreeRanks();
  ranks[2].erase(ranks[2].begin());  // a part of a.weight
  const auto gap = Reshard(kDir, kTarget, ranks);
  EXPECT_EQ(ExitCodeFor(gap.status()), 4) << gap.status();
  ExpectNothingAt("/elsewhere");
}

// A run's folders have one writer, and a checkpoint's none.
TEST_F(ReshardTest, AFolderOfARunOrACheckpointIsNoTarget) {
  Overwrite(fs, "/run/manifest.json", "{}");
  Overwrite(fs, "/run/ledger.jsonl", "");
  for (const std::string to :
       {"/run/three", "/run/checkpoints/three", "/run/checkpoints/a/b"}) {
    ExpectRefused(2, "would lie in the run /run", to);
  }
  ExpectRefused(2, std::string("would lie in the checkpoint ") + kDir,
                PathOf("three"));
  EXPECT_EQ(NamesIn(fs, "/run/checkpoints").size(), 1u);
  ASSERT_TRUE(Reshard(kDir, kTarget, {}).ok());
  const auto nested = Reshard(kDir, JoinPath(kTarget, "three"), {});
  EXPECT_EQ(ExitCodeFor(nested.status()), 2) << nested.status();
}

TEST_F(ReshardTest, DamageIsFoundBeforeAnythingIsWritten) {
  const std::string name = "rank_00000.safetensors";
  const std::string good = Read(name);
  std::string bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  Overwrite(fs, PathOf(name), bad);
  ExpectRefused(4, name);
  Overwrite(fs, PathOf(name), good);
  // Bytes and hashes agree, and are not what the saver had in its memory.
  Reseal([](CheckpointIndex& i) { i.tensors[0].fingerprint[5] ^= 1; });
  ExpectRefused(4, index.tensors[0].name);
}

// A power cut or a full disk at any call: the target is absent, or whole.
TEST_F(ReshardTest, ItIsCompleteOrAbsent) {
  int64_t absent = 0, whole = 0;
  bool finished = false;
  for (int64_t limit = 0; !finished; ++limit) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      MemoryFileSystem disk;
      MakeRun(disk);
      ASSERT_TRUE(SaveStep(disk, 6).ok());
      disk.FailAfter(limit);
      finished =
          ReshardCheckpoint(disk, {kDir, "/run/three", ThreeRanks()}).ok();
      disk.Crash(seed);
      ASSERT_TRUE(VerifyCheckpoint(disk, kDir)->ok);
      const bool there = disk.Exists("/run/three");
      ASSERT_TRUE(there || !finished) << "call " << limit;
      if (there) {
        ASSERT_TRUE(VerifyCheckpoint(disk, "/run/three")->ok) << limit;
      }
      (there ? whole : absent) += 1;
    }
  }
  EXPECT_GT(absent, 100);
  EXPECT_GE(whole, 8);
}

TEST(TensorParts, CoverABoxOnceInOrderAndStayBelowTheirSize) {
  uint64_t random = 7;
  const auto next = [&random](int64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>(random >> 33) % below;
  };
  int64_t parts = 0;
  for (int round = 0; round < 600; ++round) {
    std::vector<int64_t> shape;
    Box box;
    for (int64_t d = next(4); d >= 0; --d) {
      shape.push_back(next(9) + 1);
      box.start.push_back(next(shape.back()));
      box.shape.push_back(next(shape.back() - box.start.back()) + 1);
    }
    const int64_t most = next(200) + 4;
    int64_t covered = 0;
    const absl::Status status =
        ForEachPart(shape, 4, box, most, [&](const Box& part) {
          EXPECT_EQ(Overlap(part, box), part);
          EXPECT_LE(ElementsOf(part) * 4, std::max<int64_t>(most, 4));
          // In order, and contiguous: the first element is the next one.
          int64_t first = 0;
          for (size_t d = 0; d < part.start.size(); ++d) {
            first = first * box.shape[d] + part.start[d] - box.start[d];
          }
          EXPECT_EQ(first, covered);
          covered += ElementsOf(part);
          ++parts;
          return absl::OkStatus();
        });
    ASSERT_TRUE(status.ok());
    ASSERT_EQ(covered, ElementsOf(box));
  }
  EXPECT_GT(parts, 1000);
}

}  // namespace
}  // namespace lockstep
