#include "tools/abandoned_traces.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "determinism/trace_raw.h"

namespace lockstep {
namespace {

// Of "rank_N.step_SSSSSSSS.trace" the steps done at its launch; -1: no trace.
int64_t StepOfTrace(std::string_view name) {
  constexpr std::string_view kStep = ".step_", kEnd = ".trace";
  const size_t at = name.find(kStep);
  if (!name.starts_with("rank_") || !name.ends_with(kEnd) ||
      at == std::string_view::npos) {
    return -1;
  }
  name.remove_suffix(kEnd.size());
  int64_t step = -1;
  const std::string digits(name.substr(at + kStep.size()));
  return absl::SimpleAtoi(digits, &step) ? step : -1;
}

// What a launch leaves that did no step, or none that was to be traced.
bool HasNoRecord(FileSystem& fs, const std::string& path) {
  constexpr uint64_t kLargestHeader = 4096;
  const auto info = fs.Stat(path);
  if (!info.ok() || info->is_dir || info->size > kLargestHeader) return false;
  if (info->size == 0) return true;
  const auto trace = ReadRawTrace(fs, path);
  return trace.ok() && trace->records.empty();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SetAsideTraces(
    FileSystem& fs, const std::string& run_dir, int64_t step,
    int64_t generation) {
  std::vector<std::string> moved;
  const std::string dir = JoinPath(run_dir, "traces");
  const auto info = fs.Stat(dir);
  if (!info.ok() || !info->is_dir) return moved;
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs.List(dir));
  const std::string abandoned =
      absl::StrCat(run_dir, "/abandoned/", generation, "/traces");
  for (const std::string& name : names) {
    const int64_t launched_at = StepOfTrace(name);
    if (launched_at < std::max<int64_t>(step, 0)) continue;
    if (HasNoRecord(fs, JoinPath(dir, name))) {
      LS_RETURN_IF_ERROR(fs.Remove(JoinPath(dir, name)));
      continue;
    }
    LS_RETURN_IF_ERROR(fs.MakeDirs(abandoned));
    LS_RETURN_IF_ERROR(
        fs.Rename(JoinPath(dir, name), JoinPath(abandoned, name)));
    moved.push_back(name);
  }
  return moved;
}

}  // namespace lockstep
