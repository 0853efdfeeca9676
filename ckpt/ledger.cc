#include "ckpt/ledger.h"

#include <utility>

#include "ckpt/ledger_line.h"
#include "ckpt/run_lock.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

std::string LedgerPath(const std::string& run_dir) {
  return JoinPath(run_dir, "ledger.jsonl");
}

absl::Status Damaged(const std::string& run_dir, size_t line_number,
                     std::string_view what) {
  return ManifestMismatch(
      "the ledger is damaged: line " + std::to_string(line_number) + " " +
          std::string(what),
      LedgerPath(run_dir) + ":" + std::to_string(line_number),
      "restore the file from a backup; without it nobody can say what "
      "happened to this run, so train into another folder to go on as a new "
      "run");
}

// Without newlines; what follows the last comes last, empty in a whole file.
std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (;;) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

absl::Status ReadChain(const std::string& run_dir, std::string_view text,
                       LedgerReport& report, LedgerDamage& at) {
  const std::vector<std::string_view> lines = SplitLines(text);
  std::string head = LedgerGenesis();
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    at.from = static_cast<uint64_t>(lines[i].data() - text.data());
    at.to = at.from + lines[i].size() + 1;
    LedgerLine line;
    if (!ParseLedgerLine(lines[i], line)) {
      // Each line was on the device before the next was begun, so only the last
      // can be torn; its newline may have survived what stood before it.
      if (i + 2 == lines.size() && lines.back().empty()) {
        report.torn = std::string(lines[i]) + "\n";
        return absl::OkStatus();
      }
      return Damaged(run_dir, i + 1, "does not match its own check");
    }
    if (line.prev != head) {
      return Damaged(run_dir, i + 1,
                     "does not follow the line before it: the chain is cut");
    }
    if (line.entry.seq != static_cast<int64_t>(i)) {
      return Damaged(run_dir, i + 1, "has the wrong number");
    }
    head = line.entry.sha256;
    report.entries.push_back(std::move(line.entry));
  }
  report.torn = std::string(lines.back());
  return absl::OkStatus();
}

bool Holds(const std::vector<LedgerEntry>& entries, std::string_view head) {
  if (head == LedgerGenesis()) return true;
  for (const LedgerEntry& entry : entries) {
    if (entry.sha256 == head) return true;
  }
  return false;
}

}  // namespace

std::string LedgerGenesis() { return std::string(64, '0'); }

bool LedgerReport::Contains(std::string_view head) const {
  return Holds(entries, head);
}

std::string Ledger::Head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

bool Ledger::Contains(std::string_view head) const {
  const std::lock_guard lock(mutex_);
  return Holds(entries_, head);
}

absl::Status Ledger::CheckHolds(std::string_view head,
                                std::string_view holder) const {
  if (Contains(head)) return absl::OkStatus();
  return ManifestMismatch(
      "the ledger has lost lines: " + std::string(holder) +
          " remembers its head " + std::string(head) +
          ", and no line of it has that SHA-256",
      LedgerPath(run_dir_),
      "restore the file from a backup; or train into another folder");
}

absl::StatusOr<LedgerReport> ReadLedger(FileSystem& file_system,
                                        const std::string& run_dir,
                                        LedgerDamage* damage) {
  LedgerReport report;
  LedgerDamage unasked;
  const absl::StatusOr<std::string> text =
      file_system.ReadFile(LedgerPath(run_dir));
  if (absl::IsNotFound(text.status())) return report;
  if (!text.ok()) return text.status();
  LS_RETURN_IF_ERROR(
      ReadChain(run_dir, *text, report, damage == nullptr ? unasked : *damage));
  return report;
}

Ledger::Ledger(FileSystem& file_system, std::string run_dir, Clock& clock,
               const RunLock* lock)
    : file_system_(file_system),
      run_dir_(std::move(run_dir)),
      clock_(clock),
      lock_(lock),
      head_(LedgerGenesis()) {}

absl::StatusOr<std::unique_ptr<Ledger>> Ledger::Open(FileSystem& file_system,
                                                     const std::string& run_dir,
                                                     Clock& clock,
                                                     const RunLock* lock) {
  if (lock != nullptr) LS_RETURN_IF_ERROR(lock->CheckStillHolder());
  LS_ASSIGN_OR_RETURN(LedgerReport report, ReadLedger(file_system, run_dir));
  std::unique_ptr<Ledger> ledger(new Ledger(file_system, run_dir, clock, lock));
  ledger->entries_ = std::move(report.entries);
  if (!ledger->entries_.empty()) {
    ledger->head_ = ledger->entries_.back().sha256;
  }
  std::string torn_file;
  if (!report.torn.empty()) {
    LS_ASSIGN_OR_RETURN(torn_file, ledger->MoveTornLineAside(report.torn));
  }
  LS_ASSIGN_OR_RETURN(ledger->file_,
                      file_system.OpenAppend(LedgerPath(run_dir)));
  LS_RETURN_IF_ERROR(ledger->file_->Sync());
  LS_RETURN_IF_ERROR(file_system.SyncDir(run_dir));
  if (!torn_file.empty()) {
    LS_RETURN_IF_ERROR(ledger->Append(
        "torn_line", {{"file", torn_file},
                      {"bytes", static_cast<int64_t>(report.torn.size())}}));
  }
  return ledger;
}

absl::StatusOr<std::string> Ledger::MoveTornLineAside(const std::string& torn) {
  std::string name;
  for (int64_t n = 1;; ++n) {
    name = "ledger.torn-" + std::to_string(n);
    if (!file_system_.Exists(JoinPath(run_dir_, name))) break;
  }
  // First the copy, then the cut: a crash between leaves the bytes twice.
  LS_RETURN_IF_ERROR(
      WriteFileAtomically(file_system_, JoinPath(run_dir_, name), torn));
  std::string whole;
  for (const LedgerEntry& entry : entries_) whole += entry.line + "\n";
  LS_RETURN_IF_ERROR(
      WriteFileAtomically(file_system_, LedgerPath(run_dir_), whole));
  return name;
}

absl::Status Ledger::Append(std::string_view event,
                            const LedgerFields& fields) {
  const std::lock_guard lock(mutex_);
  if (broken_) {
    return IoError("an earlier line of the ledger could not be written",
                   LedgerPath(run_dir_), "open the run again");
  }
  if (lock_ != nullptr) LS_RETURN_IF_ERROR(lock_->CheckStillHolder());
  const std::string line =
      MakeLedgerLine(static_cast<int64_t>(entries_.size()), clock_.UnixMillis(),
                     event, fields, head_);
  const absl::Status written = WriteLine(line);
  if (!written.ok()) {
    broken_ = true;
    return written;
  }
  LedgerLine parsed;
  LS_CHECK(ParseLedgerLine(line, parsed)) << line;
  head_ = parsed.entry.sha256;
  entries_.push_back(std::move(parsed.entry));
  return absl::OkStatus();
}

absl::Status Ledger::WriteLine(const std::string& line) {
  LS_RETURN_IF_ERROR(file_->Append(line + "\n"));
  return file_->Sync();
}

}  // namespace lockstep
