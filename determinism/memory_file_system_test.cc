// The lossy double loses what it should, and WriteFileAtomically survives it.

#include "determinism/memory_file_system.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr uint64_t kLoseAll = 0, kKeepAll = 1;

absl::Status WritePlainly(FileSystem& fs, const std::string& path,
                          std::string_view contents, bool sync) {
  LS_ASSIGN_OR_RETURN(const auto file, fs.Create(path));
  LS_RETURN_IF_ERROR(file->Append(contents));
  if (sync) LS_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

TEST(MemoryFileSystemTest, BehavesLikeAFileSystemWhileThePowerIsOn) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/a/b").ok());
  ASSERT_TRUE(WritePlainly(fs, "/a/b/x", "12345", false).ok());
  EXPECT_EQ(*fs.ReadFile("/a/b/x"), "12345");
  EXPECT_EQ(fs.CreateNew("/a/b/x").status().code(),
            absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE((*fs.OpenAppend("/a/b/x"))->Append("6").ok());
  char out[2];
  ASSERT_TRUE((*fs.OpenRead("/a/b/x"))->ReadAt(4, 2, out).ok());
  EXPECT_EQ(std::string(out, 2), "56");
  EXPECT_FALSE((*fs.OpenRead("/a/b/x"))->ReadAt(5, 2, out).ok());
  const auto open = fs.OpenRead("/a/b/x");
  ASSERT_TRUE(fs.Rename("/a/b/x", "/a/y").ok());
  ASSERT_TRUE((*open)->CheckUnchanged().ok());
  EXPECT_TRUE((*fs.OpenAppend("/a/y"))->Append("7").ok());
  EXPECT_FALSE((*open)->CheckUnchanged().ok());
  EXPECT_EQ(*fs.List("/a"), (std::vector<std::string>{"b", "y"}));
  EXPECT_FALSE(fs.Rename("/a", "/a/b/a").ok());
  EXPECT_FALSE(fs.Rename("/a/y", "/a/b").ok());
  EXPECT_FALSE(fs.Remove("/a").ok());
  EXPECT_FALSE(fs.Create("/none/x").ok());
  ASSERT_TRUE(fs.RemoveTree("/a").ok());
  EXPECT_FALSE(fs.Exists("/a"));
}

TEST(MemoryFileSystemTest, DataNeedSyncAndNamesNeedSyncDir) {
  for (const bool sync_data : {false, true}) {
    for (const bool sync_name : {false, true}) {
      MemoryFileSystem fs;
      ASSERT_TRUE(WritePlainly(fs, "/x", "data", sync_data).ok());
      if (sync_name) {
        ASSERT_TRUE(fs.SyncDir("/").ok());
      }
      fs.Crash(kLoseAll);
      EXPECT_EQ(fs.Exists("/x"), sync_name);
      if (sync_name) {
        EXPECT_EQ(*fs.ReadFile("/x"), sync_data ? "data" : "");
      }
    }
  }
}

TEST(MemoryFileSystemTest, AFolderIsReachableOnlyThroughDurableNames) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/a/b").ok());
  ASSERT_TRUE(WritePlainly(fs, "/a/b/x", "data", true).ok());
  ASSERT_TRUE(fs.SyncDir("/a/b").ok());
  ASSERT_TRUE(fs.SyncDir("/a").ok());  // "/" is forgotten
  fs.Crash(kLoseAll);
  EXPECT_FALSE(fs.Exists("/a"));
}

TEST(MemoryFileSystemTest, KeepingEverythingIsLegalToo) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WritePlainly(fs, "/x", "data", false).ok());
  fs.Crash(kKeepAll);
  EXPECT_EQ(*fs.ReadFile("/x"), "data");
}

TEST(MemoryFileSystemTest, ACrashIsAFunctionOfCallsAndSeed) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::string contents[2];
    for (std::string& text : contents) {
      MemoryFileSystem fs;
      ASSERT_TRUE(WritePlainly(fs, "/x", std::string(3000, 'x'), false).ok());
      ASSERT_TRUE(fs.SyncDir("/").ok());
      fs.Crash(seed);
      text = *fs.ReadFile("/x");
    }
    EXPECT_EQ(contents[0], contents[1]) << "seed " << seed;
    outcomes.insert(contents[0]);
  }
  EXPECT_GT(outcomes.size(), 10u);  // prefixes, and prefixes with holes
}

TEST(MemoryFileSystemTest, OpenFilesDieWithTheCrash) {
  MemoryFileSystem fs;
  auto file = fs.Create("/x");
  ASSERT_TRUE((*file)->Append("a").ok());
  fs.Crash(kKeepAll);
  EXPECT_FALSE((*file)->Append("b").ok());
  EXPECT_FALSE((*file)->Sync().ok());
  EXPECT_EQ(*fs.ReadFile("/x"), "a");
}

TEST(MemoryFileSystemTest, ADiskCanBeFull) {
  MemoryFileSystem fs;
  fs.SetCapacity(10);
  const absl::Status status = WritePlainly(fs, "/x", "0123456789ab", false);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*fs.ReadFile("/x"), "0123456789");  // as a device would leave it
  EXPECT_EQ(*fs.FreeBytes("/"), 0u);
  ASSERT_TRUE(fs.Remove("/x").ok());
  EXPECT_EQ(*fs.FreeBytes("/"), 10u);
}

using Writer = std::function<absl::Status(FileSystem&, const std::string& path,
                                          std::string_view contents)>;

struct CrashTally {
  int cases = 0;
  int old_contents = 0;
  int new_contents = 0;
  int mixtures = 0;  // neither, or the old after the writer said OK
};

// Cuts the power after each prefix of the writer's calls, with many seeds.
CrashTally CrashEverywhere(const Writer& writer) {
  const std::string old_text(1200, 'o'), new_text(1500, 'n');
  CrashTally tally;
  for (int64_t calls = 0;; ++calls) {
    bool done = false;
    for (uint64_t seed = 0; seed < 64; ++seed) {
      MemoryFileSystem fs;
      EXPECT_TRUE(fs.MakeDirs("/run").ok() && fs.SyncDir("/").ok());
      EXPECT_TRUE(WriteFileAtomically(fs, "/run/x", old_text).ok());
      fs.FailAfter(calls);
      done = writer(fs, "/run/x", new_text).ok();
      fs.Crash(seed);
      const auto after = fs.ReadFile("/run/x");
      ++tally.cases;
      if (after.ok() && *after == new_text) {
        ++tally.new_contents;
      } else if (after.ok() && *after == old_text && !done) {
        ++tally.old_contents;
      } else {
        ++tally.mixtures;
      }
      // Whatever the crash left does not stand in the way of the next try.
      EXPECT_TRUE(WriteFileAtomically(fs, "/run/x", new_text).ok());
    }
    if (done) return tally;
  }
}

TEST(WriteFileAtomicallyTest, LeavesOldOrNewAtEveryCrashPoint) {
  const CrashTally tally = CrashEverywhere(WriteFileAtomically);
  EXPECT_EQ(tally.mixtures, 0);
  EXPECT_GT(tally.old_contents, 0);
  EXPECT_GT(tally.new_contents, 0);
  EXPECT_EQ(tally.cases, 6 * 64);  // five calls: six prefixes
}

// Canaries: each step that WriteFileAtomically takes, left out, is noticed.
TEST(WriteFileAtomicallyTest, TheTestNoticesAMissingFsync) {
  const CrashTally tally = CrashEverywhere(
      [](FileSystem& fs, const std::string& path, std::string_view contents) {
        LS_RETURN_IF_ERROR(WritePlainly(fs, path + ".tmp", contents, false));
        LS_RETURN_IF_ERROR(fs.Rename(path + ".tmp", path));
        return fs.SyncDir(DirName(path));
      });
  EXPECT_GT(tally.mixtures, 0);
}

TEST(WriteFileAtomicallyTest, TheTestNoticesAMissingFolderSync) {
  const CrashTally tally = CrashEverywhere(
      [](FileSystem& fs, const std::string& path, std::string_view contents) {
        LS_RETURN_IF_ERROR(WritePlainly(fs, path + ".tmp", contents, true));
        return fs.Rename(path + ".tmp", path);
      });
  EXPECT_GT(tally.mixtures, 0);
}

TEST(WriteFileAtomicallyTest, TheTestNoticesWritingInPlace) {
  const CrashTally tally = CrashEverywhere(
      [](FileSystem& fs, const std::string& path, std::string_view contents) {
        LS_RETURN_IF_ERROR(WritePlainly(fs, path, contents, true));
        return fs.SyncDir(DirName(path));
      });
  EXPECT_GT(tally.mixtures, 0);
}

TEST(WriteFileAtomicallyTest, AFullDiskKeepsTheOldFileAndLeavesNoRubbish) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteFileAtomically(fs, "/x", "old").ok());
  fs.SetCapacity(5);
  EXPECT_EQ(WriteFileAtomically(fs, "/x", "longer").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*fs.ReadFile("/x"), "old");
  EXPECT_EQ(*fs.List("/"), std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace lockstep
