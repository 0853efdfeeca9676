#include "ckpt/ledger_head.h"

#include "ckpt/bounded_read.h"
#include "ckpt/sealed_json.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kHeadDigits = 64;
constexpr size_t kSumDigits = 16;

std::string LineOf(std::string_view head) {
  return std::string(head) + " " + Sha256Hex(head).substr(0, kSumDigits) + "\n";
}

}  // namespace

absl::StatusOr<LedgerHead> ReadLedgerHead(FileSystem& file_system,
                                          const std::string& run_dir) {
  const absl::StatusOr<std::string> text = ReadBounded(
      file_system, JoinPath(run_dir, kLedgerHeadFile), kMostJsonBytes);
  if (absl::IsNotFound(text.status())) return LedgerHead();
  LS_RETURN_IF_ERROR(text.status());
  LedgerHead head = {text->substr(0, kHeadDigits)};
  head.damaged = !IsSha256Hex(head.head) || *text != LineOf(head.head);
  return head;
}

absl::Status WriteLedgerHead(FileSystem& file_system,
                             const std::string& run_dir,
                             std::string_view head) {
  return WriteFileAtomically(file_system, JoinPath(run_dir, kLedgerHeadFile),
                             LineOf(head));
}

}  // namespace lockstep
