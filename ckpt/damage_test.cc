// Damage to a checkpoint: found, named by file and tensor, never loaded.

#include <gtest/gtest.h>

#include <cstdlib>

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

constexpr char kShard[] = "rank_00000.safetensors";

class ShardDamageTest : public DamageTest {
 protected:
  void ExpectFlipFound(const std::string& good, size_t bit, bool load = true) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    Overwrite(fs, PathOf(kShard), bad);
    const VerifyResult result = Verify();
    ASSERT_EQ(result.damage.size(), 1u) << bit;
    const Damage& damage = result.damage[0];
    ASSERT_EQ(damage.file, kShard);
    ASSERT_LE(damage.from, bit / 8);
    ASSERT_GT(damage.to, bit / 8);
    ASSERT_EQ(damage.tensor.empty(),
              bit / 8 < index.files[kShard].header_bytes);
    if (!load) return;
    ASSERT_EQ(ExitCodeFor(LoadStatus()), 4) << bit;
  }
};

// Of the blanks that pad it to a page, some.
TEST_F(ShardDamageTest, EveryFlippedBitOfItsHeaderIsFound) {
  const std::string good = Read(kShard);
  const size_t bytes = index.files[kShard].header_bytes;
  const size_t text = good.find_last_not_of(' ', bytes - 1) + 1;
  ASSERT_GT(text, 600u);
  ASSERT_LE(text, bytes);
  for (size_t bit = 0; bit < bytes * 8; bit += bit < text * 8 ? 1 : 61) {
    ASSERT_NO_FATAL_FAILURE(ExpectFlipFound(good, bit, bit % 16 == 0));
  }
}

// 1000 of them, or as many as LOCKSTEP_DAMAGE_FLIPS says.
TEST_F(ShardDamageTest, RandomFlippedBitsAreFoundAndNamed) {
  const std::string good = Read(kShard);
  const char* const text = std::getenv("LOCKSTEP_DAMAGE_FLIPS");
  const int flips = text == nullptr ? 1000 : std::atoi(text);
  ASSERT_GE(flips, 1000);
  uint64_t random = 12345;
  for (int i = 0; i < flips; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    ASSERT_NO_FATAL_FAILURE(
        ExpectFlipFound(good, (random >> 33) % (good.size() * 8)));
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

}  // namespace
}  // namespace lockstep
