#include "ckpt/verify_run.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/bounded_read.h"
#include "ckpt/gone_checkpoints.h"
#include "ckpt/ledger.h"
#include "ckpt/ledger_head.h"
#include "ckpt/ledger_traces.h"
#include "ckpt/manifest.h"
#include "ckpt/sealed_json.h"
#include "ckpt/verify_content.h"
#include "determinism/first_line.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kLedgerFile[] = "ledger.jsonl";
constexpr char kLaunches[] = "launches/";

class RunVerifier {
 public:
  RunVerifier(FileSystem& file_system, const std::string& run_dir)
      : file_system_(file_system), run_dir_(run_dir) {}

  absl::StatusOr<RunVerifyResult> Run() {
    // First: a trainer at work may add a line meanwhile.
    const auto newest = ReadLedgerHead(file_system_, run_dir_);
    ReadTheLedger();
    CheckNewestHead(newest);
    VerifyManifests();
    const auto checkpoints = ListCheckpoints(file_system_, run_dir_);
    if (!checkpoints.ok()) AddUnread("checkpoints", checkpoints.status());
    for (size_t i = 0; checkpoints.ok() && i < checkpoints->size(); ++i) {
      VerifyOne((*checkpoints)[i]);
    }
    if (checkpoints.ok()) NameTheGone();
    if (ledger_holds_) NameTheLost();
    result_.ok = result_.damage.empty();
    return std::move(result_);
  }

 private:
  void Add(const std::string& file, uint64_t from, uint64_t to,
           const std::string& what) {
    result_.damage.push_back({file, "", from, to, what});
  }

  // Whatever the reason: that one file cannot be read hides no other's damage.
  void AddUnread(const std::string& file, const absl::Status& status) {
    Add(file, 0, SizeOf(file), FirstLine(status));
  }

  uint64_t SizeOf(const std::string& file) const {
    const auto info = file_system_.Stat(JoinPath(run_dir_, file));
    return info.ok() ? info->size : 0;
  }

  void ReadTheLedger() {
    LedgerDamage damage;
    auto report = ReadLedger(file_system_, run_dir_, &damage);
    ledger_holds_ = report.ok();
    if (!ledger_holds_) {
      const bool has_place = absl::IsFailedPrecondition(report.status());
      Add(kLedgerFile, damage.from, has_place ? damage.to : SizeOf(kLedgerFile),
          FirstLine(report.status()));
      return;
    }
    ledger_ = *std::move(report);
    result_.ledger_lines = static_cast<int64_t>(ledger_.entries.size());
    const uint64_t size = SizeOf(kLedgerFile);
    if (ledger_.torn.empty()) return;
    Add(kLedgerFile, size - ledger_.torn.size(), size,
        "the last line is torn: the next launch moves it aside and says so");
  }

  // Of a chain that is damaged nothing more can be said.
  void CheckHead(const std::string& head, const std::string& holder) {
    if (!ledger_holds_ || ledger_.Contains(head)) return;
    ReadTheLedgerAgain();
    if (!ledger_.Contains(head))
      AddLost(absl::StrCat(holder, " remembers its head ", head));
  }

  // A trainer at work may have added the lines that seem to be missing.
  void ReadTheLedgerAgain() {
    auto now = ReadLedger(file_system_, run_dir_);
    if (now.ok()) ledger_ = *std::move(now);
  }

  void AddLost(const std::string& trace) {
    const uint64_t end = SizeOf(kLedgerFile);
    Add(kLedgerFile, end, end, "has lost lines: " + trace);
  }

  void CheckNewestHead(const absl::StatusOr<LedgerHead>& newest) {
    if (!newest.ok()) {
      AddUnread(kLedgerHeadFile, newest.status());
    } else if (newest->damaged) {
      Add(kLedgerHeadFile, 0, SizeOf(kLedgerHeadFile),
          "does not match its own check");
    } else if (!newest->head.empty()) {
      CheckHead(newest->head, kLedgerHeadFile);
    } else if (!ledger_.entries.empty()) {
      Add(kLedgerHeadFile, 0, 0, "is missing");
    }
  }

  void VerifyManifest(const std::string& file, std::string* run_id) {
    const std::string path = JoinPath(run_dir_, file);
    const auto text = ReadBounded(file_system_, path, kMostJsonBytes);
    if (absl::IsNotFound(text.status())) {
      return Add(file, 0, 0, "is missing");
    }
    if (!text.ok()) return AddUnread(file, text.status());
    const auto manifest = ManifestFromJson(*text, path);
    if (!manifest.ok()) {
      return Add(file, 0, text->size(), FirstLine(manifest.status()));
    }
    ++result_.manifests;
    if (run_id != nullptr) *run_id = manifest->run_id;
    // Those of launches are traces (ledger_traces.h).
    if (!file.starts_with(kLaunches)) CheckHead(manifest->ledger_head, file);
  }

  void VerifyManifests() {
    VerifyManifest(kManifestFile, &run_id_);
    std::set<std::string> files;  // that are there, or that an event names
    for (const LedgerEntry& entry : ledger_.entries) {
      const std::string file = entry.Field("manifest");
      if (file.starts_with(kLaunches)) files.insert(file);
    }
    const auto kept = LaunchFiles(file_system_, run_dir_);
    if (!kept.ok()) AddUnread("launches", kept.status());
    if (kept.ok()) files.insert(kept->begin(), kept->end());
    for (const std::string& file : files) VerifyManifest(file, nullptr);
  }

  void VerifyOne(const ListedCheckpoint& checkpoint) {
    const std::string folder = absl::StrCat("checkpoints/", checkpoint.name);
    const auto verified = VerifyContent(file_system_, checkpoint.dir);
    // A live trainer's retention may have taken it away meanwhile.
    if (!file_system_.Exists(checkpoint.dir)) return;
    if (!verified.ok()) return AddUnread(folder, verified.status());
    const VerifyResult& one = *verified;
    result_.steps.push_back(checkpoint.step);
    for (Damage damage : one.damage) {
      damage.file = absl::StrCat(folder, "/", damage.file);
      result_.damage.push_back(std::move(damage));
    }
    if (!one.ok) return;
    if (!run_id_.empty() && one.index.run_id != run_id_) {
      const std::string file = absl::StrCat(folder, "/", kIndexFile);
      Add(file, 0, SizeOf(file),
          absl::StrCat("is of run ", one.index.run_id, ", and this is run ",
                       run_id_));
      return;
    }
    CheckHead(one.index.ledger_head, folder);
    VerifyManifest(absl::StrCat(folder, "/", kManifestFile), nullptr);
  }

  // A live trainer's retention says so first, so whoever misses a folder finds
  // that line in the ledger as it is then.
  void NameTheGone() {
    const auto& entries = ledger_.entries;
    if (GoneCheckpoints(file_system_, run_dir_, entries).empty()) return;
    ReadTheLedgerAgain();
    for (const auto& name : GoneCheckpoints(file_system_, run_dir_, entries)) {
      Add(absl::StrCat("checkpoints/", name), 0, 0,
          "the ledger has it, and it is gone");
    }
  }

  void NameTheLost() {
    ReadTheLedgerAgain();
    const auto& lines = ledger_.entries;
    for (const auto& trace : TracesOfLostLines(file_system_, run_dir_, lines))
      AddLost(trace);
  }

  FileSystem& file_system_;
  const std::string& run_dir_;
  RunVerifyResult result_;
  LedgerReport ledger_;
  bool ledger_holds_ = false;
  std::string run_id_;
};

}  // namespace

absl::StatusOr<RunVerifyResult> VerifyRun(FileSystem& file_system,
                                          const std::string& run_dir) {
  return RunVerifier(file_system, run_dir).Run();
}

}  // namespace lockstep
