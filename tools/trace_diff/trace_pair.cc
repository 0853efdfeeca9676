#include "tools/trace_diff/trace_pair.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/status.h"
#include "parallel/thread_pool.h"

namespace lockstep {
namespace {

// Every rank is asked for the same, so of another layout any rank tells.
const TraceCoverage& CoverageFor(int rank, const TraceFolder& folder) {
  const auto same = folder.coverage.find(rank);
  return same != folder.coverage.end() ? same->second
                                       : folder.coverage.begin()->second;
}

bool IsPartial(const TraceFolder& folder) {
  return static_cast<int>(folder.files.size()) < folder.ranks;
}

// Of one run's size, with ranks that only one of them traced.
std::vector<int> RanksOfOne(const TraceFolder& a, const TraceFolder& b) {
  std::vector<int> alone;
  if (a.ranks == 0 || a.ranks != b.ranks) return alone;
  for (const auto& [rank, files] : a.files) {
    if (!b.files.contains(rank)) alone.push_back(rank);
  }
  return static_cast<size_t>(alone.size()) < a.files.size()
             ? alone
             : std::vector<int>();
}

void LeaveOut(const std::vector<int>& ranks, const char* of,
              TraceFolder& folder, std::vector<std::string>& notes) {
  if (ranks.empty()) return;
  for (const int rank : ranks) {
    folder.files.erase(rank);
    folder.coverage.erase(rank);
  }
  notes.push_back(absl::StrCat("only ", of, " has a trace of rank ",
                               absl::StrJoin(ranks, ", "),
                               ": left out on both sides"));
}

void NoteFilters(const TraceFolder& a, const TraceFolder& b,
                 std::vector<std::string>& notes) {
  const TraceCoverage& of_a = a.coverage.begin()->second;
  const TraceCoverage& of_b = b.coverage.begin()->second;
  if (of_a == of_b) return;
  notes.push_back(absl::StrCat("A was asked for ", of_a.Text(), ", B for ",
                               of_b.Text(), ": what both have is compared"));
}

absl::StatusOr<RanksLists> ReadAll(FileSystem& fs, TraceFolder& folder,
                                   const TraceFolder& other,
                                   const TraceSteps& steps) {
  RanksLists ranks;
  for (const auto& [rank, files] : folder.files) {
    LS_ASSIGN_OR_RETURN(ranks[rank], OperationsOf(fs, folder, rank, steps,
                                                  &CoverageFor(rank, other)));
  }
  return ranks;
}

// Each side by a thread of its own: reading is most of the work.
absl::Status ReadBoth(FileSystem& fs, TraceFolder& a, TraceFolder& b,
                      const TraceSteps& steps, TracePair& pair) {
  absl::StatusOr<RanksLists> of_a, of_b;
  ThreadPool threads(2);
  threads.ParallelFor(2, [&](int64_t begin, int64_t end) {
    for (int64_t side = begin; side < end; ++side) {
      (side == 0 ? of_a : of_b) =
          side == 0 ? ReadAll(fs, a, b, steps) : ReadAll(fs, b, a, steps);
    }
  });
  LS_ASSIGN_OR_RETURN(pair.a, std::move(of_a));
  LS_ASSIGN_OR_RETURN(pair.b, std::move(of_b));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TracePair> ReadTracePair(FileSystem& fs, const std::string& a,
                                        const std::string& b,
                                        const TraceSteps& steps) {
  LS_ASSIGN_OR_RETURN(TraceFolder folder_a, OpenTraceFolder(fs, a));
  LS_ASSIGN_OR_RETURN(TraceFolder folder_b, OpenTraceFolder(fs, b));
  if (folder_a.level != folder_b.level) {
    return InputError(absl::StrCat("one trace is of level ", folder_a.level,
                                   ", the other of level ", folder_b.level),
                      absl::StrCat(a, ", ", b), "trace both at the same level");
  }
  TracePair pair;
  const std::vector<int> only_a = RanksOfOne(folder_a, folder_b);
  const std::vector<int> only_b = RanksOfOne(folder_b, folder_a);
  LeaveOut(only_a, "A", folder_a, pair.notes);
  LeaveOut(only_b, "B", folder_b, pair.notes);
  NoteFilters(folder_a, folder_b, pair.notes);
  pair.a_is_partial = IsPartial(folder_a);
  pair.b_is_partial = IsPartial(folder_b);
  LS_RETURN_IF_ERROR(ReadBoth(fs, folder_a, folder_b, steps, pair));
  for (const TraceFolder* folder : {&folder_a, &folder_b}) {
    pair.notes.insert(pair.notes.end(), folder->notes.begin(),
                      folder->notes.end());
  }
  return pair;
}

}  // namespace lockstep
