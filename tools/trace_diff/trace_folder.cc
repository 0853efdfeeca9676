#include "tools/trace_diff/trace_folder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ckpt/ledger.h"
#include "determinism/status.h"
#include "determinism/trace_raw.h"

namespace lockstep {
namespace {

struct FileName {
  int rank;
  int64_t step;
};

// "rank_N.step_SSSSSSSS.trace"; false for any other name.
bool Parse(std::string_view name, FileName& parsed) {
  constexpr std::string_view kRank = "rank_", kStep = ".step_", kEnd = ".trace";
  if (!name.starts_with(kRank) || !name.ends_with(kEnd)) return false;
  name.remove_prefix(kRank.size());
  name.remove_suffix(kEnd.size());
  const size_t dot = name.find(kStep);
  return dot != std::string_view::npos &&
         absl::SimpleAtoi(std::string(name.substr(0, dot)), &parsed.rank) &&
         absl::SimpleAtoi(std::string(name.substr(dot + kStep.size())),
                          &parsed.step) &&
         parsed.rank >= 0 && parsed.step >= 0;
}

absl::Status TakeFiles(FileSystem& fs, TraceFolder& folder) {
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      fs.List(folder.path));
  for (const std::string& name : names) {
    FileName parsed = {};
    if (!Parse(name, parsed)) continue;
    folder.files[parsed.rank][parsed.step] = JoinPath(folder.path, name);
  }
  if (!folder.files.empty()) return absl::OkStatus();
  return InputError("there are no traces here", folder.path,
                    "train with --set trace.level=operation, or replay with "
                    "--trace FOLDER, and name the folder or the run");
}

// Ranks of the largest launch: a rank that left no file is missing from it.
absl::Status TakeHeader(TraceFolder& folder, const trace::Header& header,
                        const std::string& file) {
  folder.ranks = std::max(folder.ranks, static_cast<int>(header.ranks()));
  if (folder.level.empty()) folder.level = header.level();
  if (folder.level == header.level()) return absl::OkStatus();
  return InputError(absl::StrCat("traces of level ", folder.level, " and ",
                                 header.level(), " in one folder"),
                    file, "name a folder whose files have one level");
}

// From the run's ledger, if `path` is a run.
void TakeRedone(FileSystem& fs, const std::string& path, TraceFolder& folder) {
  if (!fs.Exists(JoinPath(path, "ledger.jsonl"))) return;
  const auto ledger = ReadLedger(fs, path);
  if (!ledger.ok()) {
    folder.notes.push_back(
        absl::StrCat("the ledger of ", path,
                     " cannot be read (`lockstep ckpt verify`): steps that a "
                     "resume did again may stand in the trace"));
    return;
  }
  for (const LedgerEntry& entry : ledger->entries) {
    const std::string& event = entry.event;
    if (event != "launch" && event != "resume" && event != "fork") continue;
    int64_t step = 0;  // of a launch
    if (!absl::SimpleAtoi(entry.Field("step"), &step)) step = 0;
    for (auto& [launch, last] : folder.redone) last = std::min(last, step);
    folder.redone[step] = INT64_MAX;
  }
}

}  // namespace

absl::StatusOr<TraceFolder> OpenTraceFolder(FileSystem& fs,
                                            const std::string& path) {
  TraceFolder folder;
  folder.path = path;
  const auto info = fs.Stat(path);
  if (!info.ok() || !info->is_dir) {
    return InputError("there is no such folder", path,
                      "name a folder of traces, or a run that has some");
  }
  if (fs.Exists(JoinPath(path, "traces"))) {
    folder.path = JoinPath(path, "traces");
    TakeRedone(fs, path, folder);
  }
  LS_RETURN_IF_ERROR(TakeFiles(fs, folder));
  for (const auto& [rank, files] : folder.files) {
    for (const auto& [step, file] : files) {
      LS_ASSIGN_OR_RETURN(const trace::Header header,
                          ReadTraceHeader(fs, file));
      LS_RETURN_IF_ERROR(TakeHeader(folder, header, file));
      folder.coverage[rank].Add(step, header);
    }
  }
  return folder;
}

absl::StatusOr<OperationList> OperationsOf(FileSystem& fs, TraceFolder& folder,
                                           int rank, const TraceSteps& steps,
                                           const TraceCoverage* other) {
  OperationList operations;
  const TraceCoverage& mine = folder.coverage.at(rank);
  RecordTest answered;
  if (other != nullptr && !(mine == *other)) {
    answered = [&](const RecordView& record) {
      return mine.IsAnswered(record, *other);
    };
  }
  const std::map<int64_t, std::string>& files = folder.files.at(rank);
  for (auto file = files.begin(); file != files.end(); ++file) {
    const auto next = std::next(file);
    // What is beyond, the next launch has done again.
    int64_t last = next == files.end() ? INT64_MAX : next->first;
    const auto redone = folder.redone.find(file->first);
    if (redone != folder.redone.end()) last = std::min(last, redone->second);
    LS_ASSIGN_OR_RETURN(RawTrace trace, ReadRawTrace(fs, file->second));
    if (trace.torn_bytes > 0) {
      folder.notes.push_back(absl::StrCat(file->second, " ends in ",
                                          trace.torn_bytes,
                                          " bytes of a torn record"));
    }
    uint64_t damaged_at = 0;
    if (!operations.Add(std::move(trace),
                        {steps.first, std::min(last, steps.last)}, damaged_at,
                        answered)) {
      return DamagedTrace(file->second, damaged_at);
    }
  }
  return operations;
}

}  // namespace lockstep
