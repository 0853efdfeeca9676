// Goes through every legal loss of what was not synced, at every point of a
// save of two ranks, and counts what loads then.
//
// A point is how far each rank has come: i calls of the first, j of the second,
// whose own calls are all on its own shard. Calls on different files commute,
// so all orders of the same calls leave one disk, and so many points stand for
// all interleavings. At each point changes of names survive or not, one by one,
// and then un-synced data of the files that still have a name
// (memory_file_system.h). Equal trees of files load alike and are loaded once.

#ifndef CKPT_LOSSES_FOR_TEST_H_
#define CKPT_LOSSES_FOR_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/recorded_calls_for_test.h"
#include "ckpt/test_state.h"
#include "ckpt/two_ranks_for_test.h"
#include "determinism/file_system.h"
#include "determinism/memory_file_system.h"
#include "determinism/sha256.h"

namespace lockstep {

using RecordedCalls = std::vector<RecordedCall>;

// What a save of `step` does to a run that has one of `before`.
struct Recorded {
  RecordedCalls old_save, first, second;
};

inline bool IsOfSecond(const RecordedCall& call) {
  return call.path.find(".tmp-") != std::string::npos &&
         call.path.find("rank_00001") != std::string::npos;
}

inline Recorded Record(int64_t before, int64_t step, bool copied) {
  MemoryFileSystem disk;
  MakeRun(disk);
  RecordingFileSystem fs(&disk);
  Recorded recorded;
  const auto fs_of = [&](int) -> FileSystem& { return fs; };
  EXPECT_TRUE(SaveOnTwoRanks(fs_of, before, copied).ok());
  recorded.old_save = fs.TakeCalls();
  EXPECT_TRUE(SaveOnTwoRanks(fs_of, step, copied).ok());
  for (RecordedCall& call : fs.TakeCalls()) {
    (IsOfSecond(call) ? recorded.second : recorded.first)
        .push_back(std::move(call));
  }
  return recorded;
}

inline std::string TreeOf(FileSystem& fs, const std::string& dir) {
  std::string text;
  for (const std::string& name : NamesIn(fs, dir)) {
    const std::string path = JoinPath(dir, name);
    text += path + (fs.Stat(path)->is_dir
                        ? "/\n" + TreeOf(fs, path)
                        : " " + Sha256Hex(*fs.ReadFile(path)) + "\n");
  }
  return text;
}

class Losses {
 public:
  Losses(Recorded recorded, int64_t before, int64_t step)
      : recorded_(std::move(recorded)), before_(before), step_(step) {
    const RecordedCalls& first = recorded_.first;
    for (size_t i = 0; i < first.size(); ++i) {
      const bool folder = first[i].kind == RecordedCall::kMakeDirs;
      if (folder && first[i].path.find(".tmp-") != std::string::npos) {
        begin_ = i + 1;
      }
      if (first[i].path.find("manifest.json") != std::string::npos &&
          first[i].kind == RecordedCall::kCreate) {
        end_ = i;
      }
    }
    EXPECT_GT(begin_, 0u);
    EXPECT_GT(end_, begin_);
  }

  void GoThrough() {
    const size_t all = recorded_.second.size();
    for (size_t i = 0; i <= recorded_.first.size(); ++i) {
      // The ranks agree when the folder is there, and when the shards are.
      const size_t from = i > end_ ? all : 0, to = i < begin_ ? 0 : all;
      for (size_t j = from; j <= to; ++j) AtPoint(i, j);
    }
  }

  void Print(const char* what) const {
    std::printf(
        "%s: %lld points, %llu losses, %lld after commutation, %zu different "
        "trees: %lld load the old one, %lld the new one, %lld bad\n",
        what, points, full, tried, trees_.size(), olds, news, bad);
  }

  long long points = 0, tried = 0, olds = 0, news = 0, bad = 0;
  unsigned long long full = 0;

 private:
  void Play(MemoryFileSystem& fs, size_t i, size_t j) const {
    MakeRun(fs);
    CallPlayer player(fs);
    for (const RecordedCall& call : recorded_.old_save) player.Play(call);
    for (size_t k = 0; k < std::min(i, begin_); ++k) {
      player.Play(recorded_.first[k]);
    }
    for (size_t k = 0; k < j; ++k) player.Play(recorded_.second[k]);
    for (size_t k = begin_; k < i; ++k) player.Play(recorded_.first[k]);
  }

  void AtPoint(size_t i, size_t j) {
    ++points;
    const bool done = i == recorded_.first.size();
    std::vector<bool> kept;
    {
      MemoryFileSystem fs;
      Play(fs, i, j);
      full += fs.CountLosses();
      kept.resize(static_cast<size_t>(fs.name_changes()));
    }
    do {
      MemoryFileSystem fs;
      Play(fs, i, j);
      const std::vector<int64_t> numbers = fs.DataOutcomes(kept);
      std::vector<int64_t> outcomes(numbers.size());
      do {
        AfterLoss(i, j, kept, outcomes, done);
      } while (Next(outcomes, numbers));
    } while (Next(kept));
  }

  void AfterLoss(size_t i, size_t j, const std::vector<bool>& kept,
                 const std::vector<int64_t>& outcomes, bool done) {
    ++tried;
    MemoryFileSystem fs;
    Play(fs, i, j);
    fs.CrashKeeping(kept, outcomes);
    const auto [verdict, is_new] = trees_.try_emplace(TreeOf(fs, kRun));
    if (is_new) {
      // A launch cleans up first, and puts back a step that was moved aside.
      const int64_t at_once = StepOfTwoThatLoads(fs);
      const bool clean = LeftoversGo(fs);
      verdict->second = clean ? StepOfTwoThatLoads(fs) : -1;
      if (before_ != step_ && at_once != verdict->second) verdict->second = -1;
    }
    const int64_t found = verdict->second;
    const bool good = found == step_ || (found == before_ && !done);
    bad += good ? 0 : 1;
    (found == step_ ? news : olds) += good ? 1 : 0;
  }

  // Binary counting, and counting with a base for each digit.
  static bool Next(std::vector<bool>& bits) {
    for (size_t k = 0; k < bits.size(); ++k) {
      bits[k] = !bits[k];
      if (bits[k]) return true;
    }
    return false;
  }
  static bool Next(std::vector<int64_t>& digits,
                   const std::vector<int64_t>& bases) {
    for (size_t k = 0; k < digits.size(); ++k) {
      if (++digits[k] < bases[k]) return true;
      digits[k] = 0;
    }
    return false;
  }

  const Recorded recorded_;
  const int64_t before_, step_;
  size_t begin_ = 0, end_ = 0;  // where the second rank's calls can be
  std::map<std::string, int64_t> trees_;
};

}  // namespace lockstep

#endif  // CKPT_LOSSES_FOR_TEST_H_
