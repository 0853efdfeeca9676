// Which files are shards, what their headers may say, and files that change.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "data/shard_list.h"
#include "data/shard_test.h"
#include "data/token_shards.h"
#include "determinism/memory_file_system.h"

namespace lockstep {
namespace {

TEST(ShardFilesTest, HeadersThatLieAreRefusedByName) {
  MemoryFileSystem fs;
  const std::string sound = Shard({1, 2, 3});
  const auto expect = [&](const std::string& bytes, const std::string& text) {
    WriteTestFile(fs, "/d/a.bin", bytes);
    const absl::Status status = TokenShards::Open(fs, "/d/a.bin").status();
    ExpectRefused(status, text);
    ExpectRefused(status, "/d/a.bin");
  };
  expect("", "0 bytes");
  expect(sound.substr(0, 1023), "1023 bytes");
  expect(sound.substr(0, sound.size() - 1), "header counts 3");
  expect(sound.substr(0, sound.size() - 2), "header counts 3");
  expect(sound + "xx", "header counts 3");
  expect(Header(20240522, 1, 0), "magic number is 20240522");
  expect(Header(kGpt2, 7, 0), "version 7");
  expect(Header(kLlama3, 1, 0), "version 1");
  expect(Header(kGpt2, 1, -1), "header counts -1");
  expect(Header(kGpt2, 1, 1 << 30), "header counts 1073741824");
  expect(Header(kGpt2, 1, 0), "no tokens");
  WriteTestFile(fs, "/d/a.bin", sound);
  WriteTestFile(fs, "/d/b.bin", Shard<uint32_t>({1}));
  ExpectRefused(TokenShards::Open(fs, "/d").status(), "uint16 and of uint32");
}

TEST(ShardFilesTest, APathMeansShardsInOneOfFourWays) {
  MemoryFileSystem fs;
  WriteShards(fs);
  WriteTestFile(fs, "/d/x.list", "s_2.bin\r\n\n/d/s_0.bin\n");
  WriteTestFile(fs, "/d/twice.list", "s_2.bin\ns_2.bin");
  WriteTestFile(fs, "/d/none.list", "\n");
  WriteTestTokens(fs, "/pair/p", 257, {{1}});
  // A folder of a pair's name is no shards: a run may be called as its data.
  WriteTestFile(fs, "/pair/p/manifest.json", "{}");
  const std::vector<std::string> all = {"/d/s_0.bin", "/d/s_1.bin",
                                        "/d/s_2.bin"};
  EXPECT_EQ(*ListShards(fs, "/d"), all);
  EXPECT_EQ(*ListShards(fs, "/d/*.bin"), all);
  EXPECT_EQ(*ListShards(fs, "/d/s_[02].bin"),
            (std::vector<std::string>{"/d/s_0.bin", "/d/s_2.bin"}));
  EXPECT_EQ(*ListShards(fs, "/d/x.list"),
            (std::vector<std::string>{"/d/s_2.bin", "/d/s_0.bin"}));
  EXPECT_EQ(*ListShards(fs, "/d/s_1.bin"),
            (std::vector<std::string>{"/d/s_1.bin"}));
  for (const char* path : {"/d", "/d/*.bin", "/d/x.list", "/d/s_0.bin"}) {
    EXPECT_TRUE(NamesShards(fs, path)) << path;
  }
  for (const char* path : {"/pair/p", "/pair/p.bin", "/pair/p.idx", "/none"}) {
    EXPECT_FALSE(NamesShards(fs, path)) << path;
  }
  ExpectRefused(ListShards(fs, "/d/t_*.bin").status(), "no shard is here");
  ExpectRefused(ListShards(fs, "/d/none.list").status(), "no shard is here");
  ExpectRefused(ListShards(fs, "/d/gone.list").status(), "/d/gone.list");
  ExpectRefused(ListShards(fs, "/gone/*.bin").status(), "/gone");
  ExpectRefused(ListShards(fs, "/?/s_0.bin").status(), "last part");
  ExpectRefused(ListShards(fs, "/d/twice.list").status(), "named twice");
}

// karpathy/llm.c#822: 103 shards of 10^8 tokens, 10.25 * 10^9 in all.
TEST(ShardFilesTest, TokensAreCountedIn64Bits) {
  FileSystem& fs = *PosixFileSystem();
  const std::string dir = std::string(std::getenv("TEST_TMPDIR")) + "/shards";
  ASSERT_TRUE(fs.MakeDirs(dir).ok());
  int64_t total = 0;
  for (int i = 0; i < 103; ++i) {
    const int32_t count = i == 102 ? 52'345'678 : 100'000'000;
    const std::string name =
        dir + "/train_" + std::to_string(1000 + i) + ".bin";
    WriteTestFile(fs, name, Header(kGpt2, 1, count));
    const auto bytes = static_cast<off_t>(kShardHeaderBytes + 2 * count);
    ASSERT_EQ(truncate(name.c_str(), bytes), 0);
    total += count;
  }
  const int fd = open((dir + "/train_1102.bin").c_str(), O_WRONLY);
  const uint16_t token = 4711;
  ASSERT_EQ(pwrite(fd, &token, 2, kShardHeaderBytes + 2 * 52'345'677), 2);
  close(fd);
  const auto shards = TokenShards::Open(fs, dir + "/train_*.bin");
  ASSERT_TRUE(shards.ok()) << MessageOf(shards.status());
  EXPECT_EQ((*shards)->shard_count(), 103);
  EXPECT_EQ((*shards)->token_count(), total);
  EXPECT_EQ(total, 10'252'345'678);
  std::vector<int32_t> tokens(3);
  ASSERT_TRUE((*shards)->Read(total - 3, tokens).ok());
  EXPECT_EQ(tokens, (std::vector<int32_t>{0, 0, 4711}));
  ASSERT_TRUE((*shards)->Read(99'999'999, tokens).ok());
  ASSERT_TRUE(fs.RemoveTree(dir).ok());
}

// As for a pair (checked_file_test.cc), on a real file system.
TEST(ShardFilesTest, AShardOverwrittenUnderARunStopsItAndARenameDoesNot) {
  FileSystem& fs = *PosixFileSystem();
  const std::string path =
      std::string(std::getenv("TEST_TMPDIR")) + "/changed.bin";
  for (const std::string change : {"shorter", "same size", "rename"}) {
    WriteTestFile(fs, path, Shard({kEnd, 1, 2, 3}));
    const auto store = OpenTokens(fs, path, kAnyVocabulary, nullptr);
    ASSERT_TRUE(store.ok()) << MessageOf(store.status());
    std::vector<int32_t> tokens(4);
    const std::string other = Shard({kEnd, 9, 9, 9});
    if (change == "rename") {
      WriteTestFile(fs, path, other);
      ASSERT_TRUE((*store)->Read(0, tokens).ok());
      EXPECT_EQ(tokens, (std::vector<int32_t>{kEnd, 1, 2, 3}));
      continue;
    }
    usleep(20'000);  // past the clock's tick
    const auto file = fs.Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(
        (*file)
            ->Append(change == "shorter" ? other.substr(0, 1026) : other)
            .ok());
    ASSERT_TRUE((*file)->Close().ok());
    ExpectRefused((*store)->Read(0, tokens), path);
  }
}

}  // namespace
}  // namespace lockstep
