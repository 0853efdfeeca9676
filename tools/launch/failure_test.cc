// What is left of a job that failed, read.
#include "tools/launch/failure.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <string>

#include "determinism/memory_file_system.h"
#include "tools/launch/job.h"
#include "tools/launch/mpirun_command.h"

namespace lockstep {
namespace {

constexpr char kSaid[] =
    "step 4\n-----\nmpirun noticed that process rank 3 with PID 0 on node b17 "
    "exited on signal 9 (Killed).\n-----\n";

TEST(FailureTest, MpirunNamesTheRankAndTheNode) {
  const MpirunWords words = ReadMpirun(kSaid);
  EXPECT_EQ(words.rank, 3);
  EXPECT_EQ(words.node, "b17");
  EXPECT_EQ(words.what.find("mpirun noticed"), 0u);
  EXPECT_EQ(ReadMpirun("noticed that process rank x on node b").rank, -1);
  EXPECT_EQ(ReadMpirun("").rank, -1);
}

TEST(FailureTest, TheRankThatMostWaitedForIsTheLostOne) {
  const std::string run = testing::TempDir() + "/words";
  FileSystem& fs = *PosixFileSystem();
  ASSERT_TRUE(fs.MakeDirs(run + "/ranks").ok());
  for (const auto& [rank, waited_for] :
       {std::pair{0, "[2]"}, {1, "[2,0]"}, {3, "[0,2]"}}) {
    ASSERT_TRUE(WriteFileAtomically(
                    fs, run + "/ranks/" + std::to_string(rank) + ".json",
                    "{\"rank\":0,\"step\":" + std::to_string(5 + rank) +
                        ",\"attempt\":\"1.2\",\"waited_for\":" + waited_for +
                        "}")
                    .ok());
  }
  const RankWords words = ReadRankWords(fs, run, 0, "1.2");
  EXPECT_EQ(words.words, 3);
  EXPECT_EQ(words.lost_rank, 2);
  EXPECT_EQ(words.step, 8);
  // Those of an earlier job are not this one's.
  EXPECT_EQ(ReadRankWords(fs, run, INT64_MAX, "1.2").words, 0);
  EXPECT_EQ(ReadRankWords(fs, run, 0, "1.3").words, 0);
  EXPECT_EQ(ReadRankWords(fs, run + "/none", 0, "1.2").lost_rank, -1);
  const std::vector<LaunchHost> hosts = {{.name = "a", .slots = 2},
                                         {.name = "b", .slots = 2}};
  const JobEnd end = DescribeEnd(fs, run, 6, "", 0, "1.2", hosts);
  EXPECT_EQ(end.host, "b");
  EXPECT_EQ(end.step, 8);
  EXPECT_EQ(end.saved_step, -1);
  EXPECT_EQ(DescribeEnd(fs, run, 137, kSaid, INT64_MAX, "1.2", hosts).host,
            "b");
}

int CodeOf(Job& job) {
  for (int i = 0; i < 600; ++i) {
    pollfd ends = {job.stderr_fd(), POLLIN, 0};
    poll(&ends, 1, 50);
    job.ReadStderr();
    if (const auto code = job.Ended()) return *code;
  }
  return -1;
}

int CodeOf(const std::string& script, std::string* said = nullptr) {
  auto job = Job::Start(
      {.argv = {"sh", "-c", script}, .environment = {{"OF_A_JOB", "7"}}});
  EXPECT_TRUE(job.ok());
  const int code = CodeOf(**job);
  if (said != nullptr) *said = (*job)->said();
  return code;
}

TEST(JobTest, ItsCodeItsWordsAndItsSignals) {
  std::string said;
  EXPECT_EQ(CodeOf("echo out; echo $OF_A_JOB >&2; exit $OF_A_JOB", &said), 7);
  EXPECT_EQ(said, "7\n");
  EXPECT_EQ(CodeOf("kill -9 $$"), 137);
  EXPECT_EQ(CodeOf("trap 'exit 8' USR1; kill -USR1 $$; sleep 60"), 8);
  auto none = Job::Start({.argv = {"/no/such/program"}});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(CodeOf(**none), 127);
}

// Ranks have process groups of their own and survive mpirun.
TEST(JobTest, WhatAJobLeavesBehindEndsWithIt) {
  const std::string mark = testing::TempDir() + "/left_behind";
  const std::string script =
      "setsid sh -c 'sleep 3; : >" + mark + "' & setsid sleep 60 & ";
  EXPECT_EQ(CodeOf(script + "kill -9 $$"), 137);
  EXPECT_EQ(CodeOf(script + "exit 5"), 5);
  auto killed = Job::Start({.argv = {"sh", "-c", script + "wait"}});
  ASSERT_TRUE(killed.ok());
  poll(nullptr, 0, 300);
  (*killed)->Kill();
  EXPECT_EQ(CodeOf(**killed), 137);
  poll(nullptr, 0, 3500);
  EXPECT_FALSE(PosixFileSystem()->Exists(mark));
}

// A job that was refused was in no step.
TEST(FailureTest, AnEndIsToldByWhatItMeans) {
  EXPECT_EQ(TextOfEnd({.exit_code = 137, .step = 6, .host = "b"}),
            "137 in step 6 on b");
  EXPECT_EQ(TextOfEnd({.exit_code = 5, .step = 6}), "5 in step 6");
  EXPECT_EQ(TextOfEnd({.exit_code = 4, .step = 7}),
            "4 (checkpoints exist and none is usable)");
}

TEST(MpirunCommandTest, SaysHostsAndTrain) {
  LaunchOptions options;
  options.train.recipe = "r.toml";
  options.train.sets = {"parallel.data=2"};
  const LaunchAction start = {.kind = LaunchAction::kStart,
                              .hosts = {{.name = "a", .slots = 2}},
                              .layout = {.data = 2},
                              .message = "b is gone"};
  const auto has = [&](bool another, const std::string& part) {
    std::string text;
    for (const auto& word :
         MpirunCommand(options, "/l", "runs/x", start, another)) {
      text += word + " ";
    }
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(false,
                  "--host a:2 -x LOCKSTEP_ATTEMPT -np 2 /l train r.toml "
                  "--run runs/x --set parallel.data=2 "));
  EXPECT_FALSE(has(false, "--allow "));
  EXPECT_TRUE(has(true, "-x LOCKSTEP_RESIZE"));
  EXPECT_TRUE(has(true, "--allow layout,batch.global"));
  EXPECT_TRUE(has(true, "--reason=b is gone"));
}

}  // namespace
}  // namespace lockstep
