#include "tools/launch/failure.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ckpt/verify.h"
#include "tools/launch/host_list.h"
#include "tools/recorded_steps.h"
#include "tools/status_ranks.h"

namespace lockstep {
namespace {

constexpr char kNoticed[] = "noticed that process rank ";

// The word behind `mark` in `line`.
std::string WordAfter(const std::string& line, const std::string& mark) {
  const size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  const size_t begin = at + mark.size();
  return line.substr(begin, line.find(' ', begin) - begin);
}

int64_t NewestSaved(FileSystem& fs, const std::string& run_dir) {
  const auto checkpoints = ListCheckpoints(fs, run_dir);
  int64_t saved = -1;
  if (!checkpoints.ok()) return saved;
  for (const ListedCheckpoint& c : *checkpoints) {
    if (c.complete) saved = std::max(saved, c.step);
  }
  return saved;
}

// Of an exit code that has nothing to do with a step.
const char* MeaningOf(int exit_code) {
  switch (exit_code) {
    case 2:
      return "the user's input";
    case 3:
      return "the run and this launch differ, or its ledger is damaged";
    case 4:
      return "checkpoints exist and none is usable";
    case 8:
      return "stopped on request";
    default:
      return nullptr;
  }
}

}  // namespace

std::string TextOfEnd(const JobEnd& end) {
  if (const char* const meaning = MeaningOf(end.exit_code)) {
    return absl::StrCat(end.exit_code, " (", meaning, ")");
  }
  return absl::StrCat(end.exit_code, " in step ", end.step,
                      end.host.empty() ? "" : " on " + end.host);
}

MpirunWords ReadMpirun(const std::string& said) {
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(said, '\n'))) {
    MpirunWords words;
    if (!absl::SimpleAtoi(WordAfter(line, kNoticed), &words.rank)) continue;
    words.node = WordAfter(line, " on node ");
    words.what = line;
    return words;
  }
  return {};
}

RankWords ReadRankWords(FileSystem& fs, const std::string& run_dir,
                        int64_t started_ms, const std::string& attempt) {
  RankWords result;
  std::map<int64_t, int64_t> waited_for;
  const auto left = LastWordsOf(fs, run_dir, started_ms, "");
  for (const auto& words : left) {
    if (words.contains("earlier_launch")) continue;
    if (words.contains("attempt") && words["attempt"] != attempt) continue;
    ++result.words;
    if (words.contains("step") && words["step"].is_number_integer()) {
      result.step = std::max(result.step, words["step"].get<int64_t>());
    }
    if (!words.contains("waited_for")) continue;
    for (const auto& rank : words["waited_for"]) {
      if (rank.is_number_integer()) ++waited_for[rank.get<int64_t>()];
    }
  }
  for (const auto& [rank, times] : waited_for) {
    if (result.lost_rank < 0 || times > waited_for[result.lost_rank]) {
      result.lost_rank = rank;
    }
  }
  return result;
}

JobEnd DescribeEnd(FileSystem& fs, const std::string& run_dir, int exit_code,
                   const std::string& said, int64_t started_ms,
                   const std::string& attempt,
                   const std::vector<LaunchHost>& hosts) {
  const MpirunWords mpirun = ReadMpirun(said);
  const RankWords ranks = ReadRankWords(fs, run_dir, started_ms, attempt);
  JobEnd end = {.exit_code = exit_code, .step = ranks.step};
  end.saved_step = NewestSaved(fs, run_dir);
  if (end.step == 0) {
    const auto recorded = RecordedSteps::Read(fs, run_dir);
    if (recorded.ok()) end.step = recorded->last() + 1;
  }
  const int64_t rank = mpirun.rank >= 0 ? mpirun.rank : ranks.lost_rank;
  end.host = HostOfRank(hosts, rank);
  if (!mpirun.what.empty()) {
    end.what = mpirun.what;
  } else if (rank >= 0) {
    end.what = absl::StrCat("the others waited for rank ", rank);
  }
  return end;
}

}  // namespace lockstep
