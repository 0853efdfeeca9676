// Reading a ledger: from text that nobody vouches for to a chain.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ckpt/bounded_read.h"
#include "ckpt/ledger.h"
#include "ckpt/ledger_line.h"
#include "determinism/status.h"

namespace lockstep {

std::string LedgerPath(const std::string& run_dir) {
  return JoinPath(run_dir, "ledger.jsonl");
}

bool ChainHolds(const std::vector<LedgerEntry>& entries,
                std::string_view head) {
  if (head == LedgerGenesis()) return true;
  for (const LedgerEntry& entry : entries) {
    if (entry.sha256 == head) return true;
  }
  return false;
}

namespace {

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

}  // namespace

std::string LedgerGenesis() { return std::string(64, '0'); }

bool LedgerReport::Contains(std::string_view head) const {
  return ChainHolds(entries, head);
}

absl::StatusOr<LedgerReport> ReadLedger(FileSystem& file_system,
                                        const std::string& run_dir,
                                        LedgerDamage* damage) {
  LedgerReport report;
  LedgerDamage unasked;
  const absl::StatusOr<std::string> text =
      ReadBounded(file_system, LedgerPath(run_dir), kMostLedgerBytes);
  if (absl::IsNotFound(text.status())) return report;
  LS_RETURN_IF_ERROR(text.status());
  LS_RETURN_IF_ERROR(
      ReadChain(run_dir, *text, report, damage == nullptr ? unasked : *damage));
  return report;
}

}  // namespace lockstep
