// What `data verify` says is what training does.
#include "data/verify_tokens.h"

#include <string>
#include <vector>

#include "data/shard_test.h"
#include "data/token_store.h"
#include "determinism/memory_file_system.h"

namespace lockstep {
namespace {

// Both refuse `path`, with `text`, and verification has written nothing.
void ExpectBothRefuse(FileSystem& fs, const std::string& path,
                      const std::string& text) {
  const auto before = fs.List("/d");
  ExpectRefused(VerifyTokens(fs, path).status(), text);
  EXPECT_EQ(*fs.List("/d"), *before) << path;
  ExpectRefused(OpenTokens(fs, path, kAnyVocabulary, nullptr).status(), text);
}

TEST(VerifyTokensTest, ShardsThatTrainingRefusesAreRefused) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/d/a.bin", Shard({kEnd, 1, 2}));
  WriteTestFile(fs, "/d/b.bin", Shard<uint32_t>({1}));
  ExpectBothRefuse(fs, "/d", "uint16 and of uint32");
  WriteTestFile(fs, "/d/a.bin", Shard({}));
  ExpectBothRefuse(fs, "/d/a.bin", "hold no tokens");
  WriteTestFile(fs, "/d/b.bin", Header(20240522, 1, 0));
  ExpectBothRefuse(fs, "/d", "magic number is 20240522");
  ExpectBothRefuse(fs, "/d/c_*.bin", "no shard is here");
  // An empty shard among others is none of these.
  WriteTestFile(fs, "/d/b.bin", Shard({kEnd, 7}));
  const auto verified = VerifyTokens(fs, "/d");
  ASSERT_TRUE(verified.ok()) << MessageOf(verified.status());
  EXPECT_TRUE(verified->damage.empty());
  EXPECT_EQ(verified->written,
            (std::vector<std::string>{"/d/a.blocks", "/d/b.blocks"}));
}

// A mixture that is found when one of the two has its side files already.
TEST(VerifyTokensTest, ShardsThatHoldOneByOneAreRefusedTogether) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/d/a.bin", Shard({kEnd, 1, 2}));
  ASSERT_TRUE(VerifyTokens(fs, "/d/a.bin").ok());
  WriteTestFile(fs, "/d/b.bin", Shard<uint32_t>({1}));
  ASSERT_TRUE(VerifyTokens(fs, "/d/b.bin").ok());
  ExpectBothRefuse(fs, "/d", "uint16 and of uint32");
}

// Hashes that hold, over a table that is nonsense: who made it was wrong.
TEST(VerifyTokensTest, ATableThatDoesNotAscendIsRefused) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/d/a.bin", Shard({kEnd, 1, kEnd, 2}));
  ASSERT_TRUE(VerifyTokens(fs, "/d").ok());
  std::string table = ReadTestFile(fs, "/d/a.documents");
  std::swap(table[table.size() - 8], table[table.size() - 4]);
  WriteTestFile(fs, "/d/a.documents", table);
  auto hashes = ParseBlockHashes(ReadTestFile(fs, "/d/a.blocks"), "blocks");
  hashes->idx = DigestOf(table.data(), table.size());
  WriteTestFile(fs, "/d/a.blocks", hashes->Serialize());
  ExpectRefused(VerifyTokens(fs, "/d").status(), "do not ascend");
}

TEST(VerifyTokensTest, DamageIsNamedAndNotRefused) {
  MemoryFileSystem fs;
  WriteShards(fs);
  ASSERT_TRUE(VerifyTokens(fs, "/d").ok());
  std::string bytes = ReadTestFile(fs, "/d/s_0.bin");
  bytes[0] ^= 1;  // the magic number
  WriteTestFile(fs, "/d/s_0.bin", bytes);
  WriteTestFile(fs, "/d/t.bin", Shard({kEnd}));
  const auto verified = VerifyTokens(fs, "/d");
  ASSERT_TRUE(verified.ok()) << MessageOf(verified.status());
  ASSERT_EQ(verified->damage.size(), 1u);
  EXPECT_EQ(verified->damage[0].file, "/d/s_0.bin");
  EXPECT_TRUE(verified->written.empty());
}

// By whichever of its names, a pair with hashes is held against them and gets
// no new ones: damage would become the truth.
TEST(VerifyTokensTest, APairIsKnownByAllItsNames) {
  MemoryFileSystem fs;
  const std::vector<int32_t> tokens(3 * kHashBlockBytes / 2, 42);
  WriteTestTokens(fs, "/d/t", 257, {tokens}, 1 << 30);
  const std::string blocks = ReadTestFile(fs, "/d/t.blocks");
  std::string bin = ReadTestFile(fs, "/d/t.bin");
  bin[kHashBlockBytes + 5] ^= 1;
  WriteTestFile(fs, "/d/t.bin", bin);
  for (const char* name : {"/d/t", "/d/t.bin", "/d/t.idx"}) {
    const auto verified = VerifyTokens(fs, name);
    ASSERT_TRUE(verified.ok()) << MessageOf(verified.status());
    ASSERT_EQ(verified->damage.size(), 1u) << name;
    EXPECT_EQ(verified->damage[0].from, kHashBlockBytes);
    EXPECT_EQ(ReadTestFile(fs, "/d/t.blocks"), blocks) << name;
  }
}

TEST(VerifyTokensTest, AForeignPairGetsHashesThatEqualThoseOfItsWriter) {
  MemoryFileSystem fs;
  const std::vector<int32_t> tokens(5 * kHashBlockBytes / 4, 42);
  WriteTestTokens(fs, "/d/t", 257, {tokens, {1}}, 1 << 30);
  const std::string ours = ReadTestFile(fs, "/d/t.blocks");
  ASSERT_TRUE(fs.Remove("/d/t.blocks").ok());
  const auto verified = VerifyTokens(fs, "/d/t.bin");
  ASSERT_TRUE(verified.ok()) << MessageOf(verified.status());
  EXPECT_EQ(verified->written, std::vector<std::string>{"/d/t.blocks"});
  EXPECT_EQ(ReadTestFile(fs, "/d/t.blocks"), ours);
  EXPECT_EQ((*TokenFile::Open(fs, "/d/t"))->content_hash(),
            verified->content_hash);
  // Nonsense is not adopted.
  ASSERT_TRUE(fs.Remove("/d/t.blocks").ok());
  WriteTestFile(fs, "/d/t.bin", "short");
  ExpectBothRefuse(fs, "/d/t", "/d/t");
}

}  // namespace
}  // namespace lockstep
