#include "ckpt/ledger_traces.h"

#include <cstdint>
#include <set>
#include <utility>

#include "ckpt/bounded_read.h"
#include "ckpt/manifest.h"
#include "ckpt/sealed_json.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

class TraceSearch {
 public:
  TraceSearch(FileSystem& file_system, const std::string& run_dir,
              const std::vector<LedgerEntry>& entries)
      : file_system_(file_system), run_dir_(run_dir) {
    for (const LedgerEntry& entry : entries) Take(entry);
  }

  std::vector<std::string> Search() {
    LookAtLaunches();
    LookAtCheckpoints();
    return std::move(traces_);
  }

 private:
  void Take(const LedgerEntry& entry) {
    heads_.insert(entry.sha256);
    const OrderedJson event = OrderedJson::parse(entry.line, nullptr, false);
    if (!event.is_object()) return;
    const auto step = event.find("step");
    const bool tells = entry.event == "checkpoint" || entry.event == "resume" ||
                       entry.event == "fork";
    if (tells && step != event.end() && step->is_number_integer()) {
      told_.insert(step->get<int64_t>());
    }
    if (entry.event != "lost_lines") return;
    const auto traces = event.find("traces");
    if (traces == event.end() || !traces->is_array()) return;
    for (const OrderedJson& trace : *traces) {
      if (trace.is_string()) on_record_.insert(trace.get<std::string>());
    }
  }

  void Add(const std::string& trace) {
    if (!on_record_.contains(trace)) traces_.push_back(trace);
  }

  void LookAtLaunches() {
    const auto files = LaunchFiles(file_system_, run_dir_);
    for (size_t i = 0; files.ok() && i < files->size(); ++i) {
      const std::string path = JoinPath(run_dir_, (*files)[i]);
      const auto text = ReadBounded(file_system_, path, kMostJsonBytes);
      if (!text.ok()) continue;
      const auto manifest = ManifestFromJson(*text, path);
      if (!manifest.ok() || heads_.contains(manifest->ledger_head)) continue;
      Add((*files)[i] + " remembers its head " + manifest->ledger_head);
    }
  }

  void LookAtCheckpoints() {
    const auto manifest = ReadManifest(file_system_, run_dir_);
    const auto listed = ListCheckpoints(file_system_, run_dir_);
    if (!manifest.ok() || !listed.ok()) return;
    std::vector<int64_t> ours;  // ascending
    for (const ListedCheckpoint& c : *listed) {
      if (c.complete && c.run_id == manifest->run_id) ours.push_back(c.step);
    }
    for (size_t i = 0; i + 1 < ours.size(); ++i) {
      if (told_.contains(ours[i])) continue;
      Add("no line tells of checkpoints/" + CheckpointName(ours[i]));
    }
  }

  FileSystem& file_system_;
  const std::string& run_dir_;
  std::set<std::string> heads_ = {LedgerGenesis()};
  std::set<int64_t> told_;
  std::set<std::string> on_record_;
  std::vector<std::string> traces_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> LaunchFiles(
    FileSystem& file_system, const std::string& run_dir) {
  const auto names = file_system.List(JoinPath(run_dir, "launches"));
  std::vector<std::string> files;
  if (absl::IsNotFound(names.status())) return files;
  LS_RETURN_IF_ERROR(names.status());
  for (const std::string& name : *names) {
    if (name.ends_with(".json")) files.push_back("launches/" + name);
  }
  return files;
}

std::vector<std::string> TracesOfLostLines(
    FileSystem& file_system, const std::string& run_dir,
    const std::vector<LedgerEntry>& entries) {
  return TraceSearch(file_system, run_dir, entries).Search();
}

}  // namespace lockstep
