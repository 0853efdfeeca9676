// Damage to a checkpoint: found, named by file and tensor, never loaded.

#include <gtest/gtest.h>

#include "ckpt/damage_for_test.h"
#include "ckpt/load.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

TEST_F(DamageTest, TheUndamagedOneVerifies) {
  const VerifyResult result = Verify();
  EXPECT_TRUE(result.ok) << result.Summary();
  EXPECT_TRUE(LoadStatus().ok());
  EXPECT_EQ(VerifyResultToJson(result), R"({"ok":true,"step":6,"damage":[]})");
  EXPECT_EQ(IndexToJson(result.index), Read("index.json"));
  EXPECT_EQ(IndexToJson(*IndexFromJson(Read("index.json"), "i")),
            Read("index.json"));
}

TEST_F(DamageTest, EveryFlippedBitOfIndexAndManifestIsFound) {
  for (const std::string name : {"index.json", "manifest.json"}) {
    const std::string good = Read(name);
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      if (name == "index.json") {
        ASSERT_FALSE(IndexFromJson(bad, name).ok()) << bit;
        continue;
      }
      Overwrite(fs, PathOf(name), bad);
      const VerifyResult result = Verify();
      ASSERT_EQ(result.damage.size(), 1u) << bit;
      ASSERT_EQ(result.damage[0].file, name);
      ASSERT_EQ(ExitCodeFor(LoadStatus()), 4) << bit;
    }
    Overwrite(fs, PathOf(name), good);
  }
  EXPECT_TRUE(Verify().ok);
}

TEST_F(DamageTest, RandomFlippedBitsOfTheShardAreFoundAndNamed) {
  const std::string name = "rank_00000.safetensors";
  const std::string good = Read(name);
  uint64_t random = 12345;
  for (int i = 0; i < 1000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const size_t bit = (random >> 33) % (good.size() * 8);
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    Overwrite(fs, PathOf(name), bad);
    const VerifyResult result = Verify();
    ASSERT_EQ(result.damage.size(), 1u) << bit;
    const Damage& damage = result.damage[0];
    ASSERT_EQ(damage.file, name);
    ASSERT_LE(damage.from, bit / 8);
    ASSERT_GT(damage.to, bit / 8);
    ASSERT_EQ(damage.tensor.empty(), bit / 8 < index.files[name].header_bytes);
    ASSERT_EQ(ExitCodeFor(LoadStatus()), 4) << bit;
  }
}

TEST_F(DamageTest, TruncationAndTrailingBytes) {
  for (const std::string name :
       {"index.json", "manifest.json", "rank_00000.safetensors"}) {
    const std::string good = Read(name);
    for (const size_t cut :
         {size_t{0}, size_t{1}, good.size() / 2, good.size() - 1}) {
      Overwrite(fs, PathOf(name), good.substr(0, cut));
      EXPECT_FALSE(Verify().ok) << name << " cut at " << cut;
      EXPECT_FALSE(LoadStatus().ok()) << name << " cut at " << cut;
    }
    Overwrite(fs, PathOf(name), good + "x");
    EXPECT_FALSE(Verify().ok) << name;
    EXPECT_FALSE(LoadStatus().ok()) << name;
    ASSERT_TRUE(fs.Remove(PathOf(name)).ok());
    EXPECT_FALSE(Verify().ok) << name;
    EXPECT_FALSE(LoadStatus().ok()) << name;
    Overwrite(fs, PathOf(name), good);
  }
  EXPECT_TRUE(LoadStatus().ok());
}

TEST_F(DamageTest, AShardOfAnotherStep) {
  ASSERT_TRUE(SaveStep(fs, 7).ok());
  Overwrite(
      fs, PathOf("rank_00000.safetensors"),
      *fs.ReadFile("/run/checkpoints/step_00000007/rank_00000.safetensors"));
  ExpectUnusable("another file stands here");
  // A whole folder under the name of another step.
  for (const std::string& name : NamesIn(fs, kDir)) {
    Overwrite(fs, PathOf(name),
              *fs.ReadFile("/run/checkpoints/step_00000007/" + name));
  }
  EXPECT_FALSE(Verify().ok);
}

TEST_F(DamageTest, DiffNamesTheTensorsThatDiffer) {
  TestState other(6);
  other.model.b[2] = 17;
  SaveOptions options = OptionsFor(8);
  const auto saved = SaveCheckpoint(fs, options, other.registry);
  const auto differences = DiffCheckpoints(index, saved->index);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].name, "model/b.bias");
  EXPECT_TRUE(DiffCheckpoints(index, index).empty());
}

}  // namespace
}  // namespace lockstep
