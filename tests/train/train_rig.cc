#include "tests/train/train_rig.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/check.h"
#include "determinism/file_system.h"

namespace lockstep {

using Json = nlohmann::ordered_json;

TrainRig::TrainRig(const std::string& name, Sizes sizes)
    : dir_(testing::TempDir() + "/" + name), sizes_(sizes) {
  FileSystem& fs = *PosixFileSystem();
  if (fs.Exists(dir_)) LS_CHECK(fs.RemoveTree(dir_).ok());
}

RigResult TrainRig::Train(const RigOptions& options) const {
  TrainOptions train;
  train.recipe = options.recipe;
  if (sizes_ == kSmall)
    train.sets = {absl::StrCat("train.steps=", options.steps),
                  "schedule.length=20", "data.sequence=32", "batch.global=8"};
  if (sizes_ == kOfRecipe)
    train.sets = {absl::StrCat("train.steps=", options.steps)};
  train.sets.insert(train.sets.end(), options.sets.begin(), options.sets.end());
  train.run_dir = dir_;
  train.until = options.until;
  train.resume = options.resume;
  train.fork = options.fork;
  train.allow = options.allow;
  train.reason = options.reason;
  train.faults = options.faults;
  train.skip_samples = options.skip_samples;
  train.threads = options.threads;
  train.ranks = options.ranks;
  train.json = true;
  const absl::StatusOr<Answer> answer = TrainVerb(train);
  if (!answer.ok()) return {answer.status(), ""};
  return {absl::OkStatus(), Json::parse(answer->text)["unseed"]};
}

std::string TrainRig::Unseed(const RigOptions& options) const {
  const RigResult result = Train(options);
  EXPECT_TRUE(result.status.ok()) << std::string(result.status.message());
  EXPECT_EQ(result.unseed.size(), 32u);
  return result.unseed;
}

void TrainRig::TrainUntilKilled(const RigOptions& options) const {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(Train(options).status.ok() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      << "not killed: " << (options.faults.empty() ? "" : options.faults[0]);
}

std::vector<std::string> TrainRig::Metrics() const {
  std::vector<std::string> lines;
  for (const auto line :
       absl::StrSplit(Read("metrics.jsonl"), '\n', absl::SkipEmpty())) {
    Json json = Json::parse(std::string(line));
    for (const char* timing : {"step_ms", "tokens_per_s", "mfu"}) {
      EXPECT_EQ(json.erase(timing), 1u) << timing;
    }
    lines.push_back(json.dump());
  }
  return lines;
}

std::string TrainRig::Read(const std::string& file) const {
  const auto text = PosixFileSystem()->ReadFile(dir_ + "/" + file);
  EXPECT_TRUE(text.ok()) << std::string(text.status().message());
  return text.ok() ? *text : "";
}

void TrainRig::Write(const std::string& file,
                     const std::string& contents) const {
  EXPECT_TRUE(
      WriteFileAtomically(*PosixFileSystem(), dir_ + "/" + file, contents)
          .ok());
}

testing::AssertionResult SameLines(const std::vector<std::string>& got,
                                   const std::vector<std::string>& want) {
  if (want.empty()) return testing::AssertionFailure() << "nothing to compare";
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    if (got[i] == want[i]) continue;
    const auto at =
        static_cast<size_t>(std::mismatch(got[i].begin(), got[i].end(),
                                          want[i].begin(), want[i].end())
                                .first -
                            got[i].begin());
    const size_t from = got[i].rfind(',', at) + 1;
    return testing::AssertionFailure()
           << "line " << i + 1 << " of " << want.size() << ", byte " << at
           << ": " << got[i].substr(from, 80) << "\n  wanted "
           << want[i].substr(std::min(from, want[i].size()), 80);
  }
  if (got.size() == want.size()) {
    return testing::AssertionSuccess() << got.size() << " lines";
  }
  return testing::AssertionFailure()
         << got.size() << " lines, wanted " << want.size();
}

bool TrainRig::Exists(const std::string& file) const {
  return PosixFileSystem()->Exists(dir_ + "/" + file);
}

std::vector<std::string> TrainRig::List(const std::string& folder) const {
  const auto names = PosixFileSystem()->List(dir_ + "/" + folder);
  return names.ok() ? *names : std::vector<std::string>();
}

}  // namespace lockstep
