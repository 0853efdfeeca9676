// A run's folder in which something has the name of a file and is none.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

namespace stdfs = std::filesystem;

void Put(const std::string& kind, const std::string& path) {
  int failed = 0;
  if (kind == "folder") failed = mkdir(path.c_str(), 0700);
  if (kind == "pipe") failed = mkfifo(path.c_str(), 0600);
  if (kind == "link") failed = symlink("/gone/file", path.c_str());
  if (kind == "giant") {
    failed = truncate(path.c_str(), 0) + truncate(path.c_str(), off_t{3} << 40);
  }
  ASSERT_EQ(failed, 0);
}

// None hangs, none fills memory, none is told as a fault of the program; and a
// run that has its files back goes on as if nothing had been.
TEST(StrangeFilesRunTest, AResumeRefusesThemByTheirCodes) {
  const TrainRig run("strange_files"), sound("strange_files_sound");
  RigOptions options = {.sets = {"checkpoint.every=2"}, .steps = 4};
  options.until = 2;
  run.Unseed(options);
  options.until.reset();
  const std::string away = run.dir() + ".away";
  for (const std::string name :
       {"manifest.json", "ledger.jsonl", "metrics.jsonl", "lock"}) {
    const bool verified = name == "manifest.json" || name == "ledger.jsonl";
    const std::string path = run.dir() + "/" + name;
    for (const std::string kind : {"folder", "pipe", "giant", "link"}) {
      // What is not there has rules of its own.
      if (kind == "link" && verified) continue;
      stdfs::rename(path, away);
      if (kind == "giant") run.Write(name, "");
      Put(kind, path);
      const absl::Status status = run.Train(options).status;
      EXPECT_EQ(ExitCodeFor(status), verified ? 3 : 2)
          << name << ", " << kind << ": " << status;
      EXPECT_NE(status.message().find(name), std::string::npos) << status;
      stdfs::remove(path);
      stdfs::rename(away, path);
    }
  }
  EXPECT_EQ(run.Unseed(options), sound.Unseed(options));
}

// What a kill may leave is a file; a folder of that name is somebody's.
TEST(StrangeFilesRunTest, AFolderInAHalfFilesPlaceIsNotRemoved) {
  const TrainRig run("strange_half");
  RigOptions options = {.sets = {"checkpoint.every=2"}, .steps = 4};
  options.until = 2;
  run.Unseed(options);
  options.until.reset();
  stdfs::create_directories(run.dir() + "/metrics.jsonl.tmp/mine");
  const absl::Status status = run.Train(options).status;
  EXPECT_EQ(ExitCodeFor(status), 2) << status;
  EXPECT_NE(status.message().find("metrics.jsonl.tmp"), std::string::npos);
  EXPECT_TRUE(run.Exists("metrics.jsonl.tmp/mine"));
}

// Opening a pipe to write waits for a reader: a launch hung without a word.
TEST(StrangeFilesRunTest, APipeAsARanksLogHoldsNoRun) {
  const TrainRig run("strange_log"), sound("strange_log_sound");
  const RigOptions options = {.steps = 4};
  stdfs::create_directories(run.dir() + "/logs");
  Put("pipe", run.dir() + "/logs/rank_0.log");
  EXPECT_EQ(run.Unseed(options), sound.Unseed(options));
  EXPECT_TRUE(stdfs::is_fifo(run.dir() + "/logs/rank_0.log"));
}

}  // namespace
}  // namespace lockstep
