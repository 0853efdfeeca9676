#include "ckpt/verify_run.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/bounded_read.h"
#include "ckpt/ledger.h"
#include "ckpt/ledger_head.h"
#include "ckpt/manifest.h"
#include "ckpt/sealed_json.h"
#include "ckpt/verify_content.h"
#include "determinism/first_line.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kLedgerFile[] = "ledger.jsonl";

class RunVerifier {
 public:
  RunVerifier(FileSystem& file_system, const std::string& run_dir)
      : file_system_(file_system), run_dir_(run_dir) {}

  absl::StatusOr<RunVerifyResult> Run() {
    // First: a trainer at work may add a line meanwhile.
    LS_ASSIGN_OR_RETURN(const LedgerHead newest,
                        ReadLedgerHead(file_system_, run_dir_));
    LS_RETURN_IF_ERROR(ReadTheLedger());
    CheckNewestHead(newest);
    LS_RETURN_IF_ERROR(VerifyManifests());
    LS_ASSIGN_OR_RETURN(const auto checkpoints,
                        ListCheckpoints(file_system_, run_dir_));
    for (const ListedCheckpoint& checkpoint : checkpoints) {
      LS_RETURN_IF_ERROR(VerifyOne(checkpoint));
    }
    result_.ok = result_.damage.empty();
    return std::move(result_);
  }

 private:
  void Add(const std::string& file, uint64_t from, uint64_t to,
           const std::string& what) {
    result_.damage.push_back({file, "", from, to, what});
  }

  uint64_t SizeOf(const std::string& file) const {
    const auto info = file_system_.Stat(JoinPath(run_dir_, file));
    return info.ok() ? info->size : 0;
  }

  absl::Status ReadTheLedger() {
    LedgerDamage damage;
    auto report = ReadLedger(file_system_, run_dir_, &damage);
    if (absl::IsDataLoss(report.status())) damage.to = SizeOf(kLedgerFile);
    if (!report.ok() && !absl::IsFailedPrecondition(report.status()) &&
        !absl::IsDataLoss(report.status())) {
      return report.status();
    }
    ledger_holds_ = report.ok();
    if (!ledger_holds_) {
      Add(kLedgerFile, damage.from, damage.to, FirstLine(report.status()));
      return absl::OkStatus();
    }
    ledger_ = *std::move(report);
    result_.ledger_lines = static_cast<int64_t>(ledger_.entries.size());
    const uint64_t size = SizeOf(kLedgerFile);
    if (ledger_.torn.empty()) return absl::OkStatus();
    Add(kLedgerFile, size - ledger_.torn.size(), size,
        "the last line is torn: the next launch moves it aside and says so");
    return absl::OkStatus();
  }

  // Of a chain that is damaged nothing more can be said.
  void CheckHead(const std::string& head, const std::string& holder) {
    if (!ledger_holds_ || ledger_.Contains(head)) return;
    const uint64_t size = SizeOf(kLedgerFile);
    Add(kLedgerFile, size, size,
        absl::StrCat("has lost lines: ", holder, " remembers its head ", head));
  }

  void CheckNewestHead(const LedgerHead& newest) {
    if (newest.damaged) {
      Add(kLedgerHeadFile, 0, SizeOf(kLedgerHeadFile),
          "does not match its own check");
    } else if (!newest.head.empty()) {
      CheckHead(newest.head, kLedgerHeadFile);
    } else if (!ledger_.entries.empty()) {
      Add(kLedgerHeadFile, 0, 0, "is missing");
    }
  }

  absl::Status VerifyManifest(const std::string& file, std::string* run_id) {
    const std::string path = JoinPath(run_dir_, file);
    const auto text = ReadBounded(file_system_, path, kMostJsonBytes);
    if (absl::IsNotFound(text.status())) {
      Add(file, 0, 0, "is missing");
      return absl::OkStatus();
    }
    if (absl::IsDataLoss(text.status())) {
      Add(file, 0, SizeOf(file), FirstLine(text.status()));
      return absl::OkStatus();
    }
    LS_RETURN_IF_ERROR(text.status());
    const auto manifest = ManifestFromJson(*text, path);
    if (!manifest.ok()) {
      Add(file, 0, text->size(), FirstLine(manifest.status()));
      return absl::OkStatus();
    }
    ++result_.manifests;
    if (run_id != nullptr) *run_id = manifest->run_id;
    CheckHead(manifest->ledger_head, file);
    return absl::OkStatus();
  }

  absl::Status VerifyManifests() {
    LS_RETURN_IF_ERROR(VerifyManifest(kManifestFile, &run_id_));
    const std::string launches = "launches/";
    std::set<std::string> files;  // that are there, or that an event names
    for (const LedgerEntry& entry : ledger_.entries) {
      const std::string file = entry.Field("manifest");
      if (file.starts_with(launches)) files.insert(file);
    }
    const auto names = file_system_.List(JoinPath(run_dir_, "launches"));
    if (!names.ok() && !absl::IsNotFound(names.status())) return names.status();
    for (size_t i = 0; names.ok() && i < names->size(); ++i) {
      if ((*names)[i].ends_with(".json")) files.insert(launches + (*names)[i]);
    }
    for (const std::string& file : files) {
      LS_RETURN_IF_ERROR(VerifyManifest(file, nullptr));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyOne(const ListedCheckpoint& checkpoint) {
    LS_ASSIGN_OR_RETURN(const VerifyResult one,
                        VerifyContent(file_system_, checkpoint.dir));
    // A live trainer's retention may have taken it away meanwhile.
    if (!file_system_.Exists(checkpoint.dir)) return absl::OkStatus();
    const std::string folder = absl::StrCat("checkpoints/", checkpoint.name);
    result_.steps.push_back(checkpoint.step);
    for (Damage damage : one.damage) {
      damage.file = absl::StrCat(folder, "/", damage.file);
      result_.damage.push_back(std::move(damage));
    }
    if (!one.ok || one.index.run_id != run_id_) return absl::OkStatus();
    CheckHead(one.index.ledger_head, folder);
    return VerifyManifest(absl::StrCat(folder, "/", kManifestFile), nullptr);
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

std::string RunVerifyResultToJson(const RunVerifyResult& result) {
  OrderedJson list = OrderedJson::array();
  for (const Damage& damage : result.damage) {
    list.push_back({{"file", damage.file},
                    {"tensor", damage.tensor},
                    {"from", damage.from},
                    {"to", damage.to},
                    {"what", damage.what}});
  }
  return CompactJson({{"ok", result.ok},
                      {"steps", result.steps},
                      {"ledger_lines", result.ledger_lines},
                      {"manifests", result.manifests},
                      {"damage", list}});
}

}  // namespace lockstep
