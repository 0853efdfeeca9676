#include "data/token_shards.h"

#include <string>
#include <vector>

#include "data/shard_test.h"
#include "data/verify_tokens.h"
#include "determinism/memory_file_system.h"

namespace lockstep {
namespace {

std::vector<int64_t> StartsOf(const TokenStore& store) {
  std::vector<int64_t> starts;
  for (int64_t d = 0; d <= store.document_count(); ++d) {
    starts.push_back(*store.DocumentStart(d));
  }
  return starts;
}

void ExpectAllRanges(const TokenStore& store) {
  int64_t compared = 0;
  for (int64_t first = 0; first < 10; ++first) {
    for (int64_t count = 1; first + count <= 10; ++count) {
      std::vector<int32_t> tokens(static_cast<size_t>(count));
      ASSERT_TRUE(store.Read(first, tokens).ok());
      for (int64_t i = 0; i < count; ++i, ++compared) {
        EXPECT_EQ(tokens[i], kAll[first + i]);
      }
    }
  }
  EXPECT_EQ(compared, 220);
}

TEST(TokenShardsTest, TokensAndDocumentsRunAcrossShards) {
  MemoryFileSystem fs;
  WriteShards(fs);
  std::string notices;
  const auto store =
      OpenTokens(fs, "/d/s_*.bin", 50257,
                 [&](const std::string& text) { notices += text + "\n"; });
  ASSERT_TRUE(store.ok()) << MessageOf(store.status());
  EXPECT_EQ((*store)->token_count(), 10);
  EXPECT_EQ((*store)->document_count(), 4);
  EXPECT_EQ(StartsOf(**store), kStarts);
  ExpectAllRanges(**store);
  for (int64_t token = 0; token < 10; ++token) {
    const int64_t document = *(*store)->DocumentOf(token);
    EXPECT_LE(kStarts[document], token);
    EXPECT_LT(token, kStarts[document + 1]);
  }
  EXPECT_NE(notices.find("3 of 3 shards have no table"), std::string::npos);
  ASSERT_EQ((*store)->Identities().size(), 1u);
  EXPECT_EQ((*store)->Identities()[0].path, "/d/s_*.bin");
  EXPECT_EQ((*store)->Identities()[0].size, 3 * kShardHeaderBytes + 20);
  EXPECT_EQ((*store)->Identities()[0].sha256, (*store)->content_hash());
}

// A first shard that begins inside a document: its tokens are a document too.
TEST(TokenShardsTest, TokensBeforeTheFirstEndOfTextAreADocument) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/d/a.bin", Shard({9, 8}));
  WriteTestFile(fs, "/d/b.bin", Shard({kEnd, 7}));
  const auto both = OpenTokens(fs, "/d", kAnyVocabulary, nullptr);
  ASSERT_TRUE(both.ok()) << MessageOf(both.status());
  EXPECT_EQ(StartsOf(**both), (std::vector<int64_t>{0, 2, 4}));
  const auto one = OpenTokens(fs, "/d/a.bin", kAnyVocabulary, nullptr);
  ASSERT_TRUE(one.ok()) << MessageOf(one.status());
  EXPECT_EQ(StartsOf(**one), (std::vector<int64_t>{0, 2}));
}

TEST(TokenShardsTest, WideTokensHaveTheirOwnEndOfText) {
  MemoryFileSystem fs;
  WriteTestFile(fs, "/d/a.bin", Shard<uint32_t>({128000, 50256, 128000, 7}));
  const auto store = OpenTokens(fs, "/d/a.bin", 128256, nullptr);
  ASSERT_TRUE(store.ok()) << MessageOf(store.status());
  EXPECT_EQ(StartsOf(**store), (std::vector<int64_t>{0, 2, 4}));
  std::vector<int32_t> tokens(4);
  ASSERT_TRUE((*store)->Read(0, tokens).ok());
  EXPECT_EQ(tokens, (std::vector<int32_t>{128000, 50256, 128000, 7}));
}

TEST(TokenShardsTest, SideFilesSayWhatReadingThroughSays) {
  MemoryFileSystem fs;
  WriteShards(fs);
  const auto read = OpenTokens(fs, "/d", kAnyVocabulary, nullptr);
  const auto verified = VerifyTokens(fs, "/d");
  ASSERT_TRUE(verified.ok()) << MessageOf(verified.status());
  EXPECT_TRUE(verified->damage.empty());
  EXPECT_EQ(verified->written.size(), 3u);
  std::string notices;
  const auto store =
      OpenTokens(fs, "/d", kAnyVocabulary,
                 [&](const std::string& text) { notices += text; });
  ASSERT_TRUE(store.ok()) << MessageOf(store.status());
  EXPECT_EQ(notices, "");
  EXPECT_EQ(StartsOf(**store), kStarts);
  EXPECT_EQ((*store)->content_hash(), (*read)->content_hash());
  ExpectAllRanges(**store);
  const auto again = VerifyTokens(fs, "/d");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->written.empty() && again->damage.empty());
}

TEST(TokenShardsTest, DamageIsFoundByVerifyAndStopsTheOpening) {
  for (const char* name : {"/d/s_2.bin", "/d/s_2.documents"}) {
    MemoryFileSystem fs;
    WriteShards(fs);
    ASSERT_TRUE(VerifyTokens(fs, "/d").ok());
    std::string bytes = ReadTestFile(fs, name);
    bytes.back() ^= 1;
    WriteTestFile(fs, name, bytes);
    const auto verified = VerifyTokens(fs, "/d");
    ASSERT_TRUE(verified.ok());
    ASSERT_EQ(verified->damage.size(), 1u);
    EXPECT_EQ(verified->damage[0].file, name);
    ExpectRefused(OpenTokens(fs, "/d", kAnyVocabulary, nullptr).status(),
                  "/d/s_2");
  }
}

// Blealtan/RWKV-LM-LoRA#46, huggingface/tokenizers#1609.
TEST(TokenShardsTest, AnIdBeyondTheVocabularySaysWhere) {
  MemoryFileSystem fs;
  WriteShards(fs);
  const auto store = OpenTokens(fs, "/d", 50256, nullptr);
  ASSERT_TRUE(store.ok());
  std::vector<int32_t> tokens(5);
  EXPECT_TRUE((*store)->Read(5, std::span(tokens).first(3)).ok());
  ExpectRefused((*store)->Read(5, tokens),
                "/d/s_2.bin, document 3, position 0 (token 8 of the source), "
                "id 50256, vocab 50256");
  WriteTestFile(fs, "/e/a.bin", Shard<uint32_t>({1, 4294967295}));
  const auto wide = OpenTokens(fs, "/e/a.bin", kAnyVocabulary, nullptr);
  ASSERT_TRUE(wide.ok());
  ExpectRefused((*wide)->Read(0, std::span(tokens).first(2)),
                "position 1 (token 1 of the source), id 4294967295");
}

}  // namespace
}  // namespace lockstep
