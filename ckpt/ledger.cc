#include "ckpt/ledger.h"

#include <utility>

#include "ckpt/bounded_read.h"
#include "ckpt/ledger_head.h"
#include "ckpt/ledger_line.h"
#include "ckpt/run_lock.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {

std::string Ledger::Head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

bool Ledger::Contains(std::string_view head) const {
  const std::lock_guard lock(mutex_);
  return ChainHolds(entries_, head);
}

absl::Status Ledger::CheckHolds(std::string_view head,
                                std::string_view holder) const {
  if (Contains(head)) return absl::OkStatus();
  return ManifestMismatch(
      "the ledger has lost lines: " + std::string(holder) +
          " remembers its head " + std::string(head) +
          ", and no line of it has that SHA-256",
      LedgerPath(run_dir_),
      "restore ledger.jsonl and ledger_head from one backup; or train into "
      "another folder");
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
  auto read = ReadLedger(file_system, run_dir);
  if (!read.ok()) return AsDamageAtResume(read.status());
  LedgerReport report = *std::move(read);
  std::unique_ptr<Ledger> ledger(new Ledger(file_system, run_dir, clock, lock));
  ledger->entries_ = std::move(report.entries);
  if (!ledger->entries_.empty()) {
    ledger->head_ = ledger->entries_.back().sha256;
  }
  const auto newest = ReadLedgerHead(file_system, run_dir);
  if (!newest.ok()) return AsDamageAtResume(newest.status());
  std::string torn_file;
  if (!report.torn.empty()) {
    LS_ASSIGN_OR_RETURN(torn_file, ledger->MoveTornLineAside(report.torn));
  }
  LS_ASSIGN_OR_RETURN(ledger->file_,
                      file_system.OpenAppend(LedgerPath(run_dir)));
  LS_RETURN_IF_ERROR(ledger->file_->Sync());
  LS_RETURN_IF_ERROR(file_system.SyncDir(run_dir));
  LS_RETURN_IF_ERROR(ledger->RecordLostLines(*newest));
  if (!torn_file.empty()) {
    LS_RETURN_IF_ERROR(ledger->Append(
        "torn_line", {{"file", torn_file},
                      {"bytes", static_cast<int64_t>(report.torn.size())}}));
  }
  return ledger;
}

// The head that was noted last is not in the chain, or nobody knows it. That is
// on record from then on, and a head is noted before the first line.
absl::Status Ledger::RecordLostLines(const LedgerHead& newest) {
  const bool missing = newest.head.empty() && !newest.damaged;
  if (missing ? entries_.empty() : !newest.damaged && Contains(newest.head)) {
    return WriteLedgerHead(file_system_, run_dir_, head_);
  }
  return Append("lost_lines", {{"after", static_cast<int64_t>(entries_.size())},
                               {"head", newest.damaged ? "unreadable"
                                        : missing      ? "missing"
                                                       : newest.head}});
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
  broken_ = true;  // unless it is written
  LS_RETURN_IF_ERROR(WriteLine(line));
  broken_ = false;
  LedgerLine parsed;
  LS_CHECK(ParseLedgerLine(line, parsed)) << line;
  head_ = parsed.entry.sha256;
  entries_.push_back(std::move(parsed.entry));
  return WriteLedgerHead(file_system_, run_dir_, head_);
}

absl::Status Ledger::WriteLine(const std::string& line) {
  LS_RETURN_IF_ERROR(file_->Append(line + "\n"));
  return file_->Sync();
}

}  // namespace lockstep
