// RUN/ledger_head: the newest head of the ledger.
//
// What it is: the SHA-256 of the last line, with a check of itself, replaced
// after each line. What it is not: a second ledger: a crash between a line and
// this leaves the head before, which the chain has too. Why so: a chain that
// was cut off after a whole line is sound in itself, and a checkpoint remembers
// the head of its time alone.

#ifndef CKPT_LEDGER_HEAD_H_
#define CKPT_LEDGER_HEAD_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// Not "ledger.head": faults name a file by what stands before its first dot.
inline constexpr char kLedgerHeadFile[] = "ledger_head";

struct LedgerHead {
  std::string head = {};  // "": there is no file
  bool damaged = false;   // its check of itself does not hold
};

absl::StatusOr<LedgerHead> ReadLedgerHead(FileSystem& file_system,
                                          const std::string& run_dir);
absl::Status WriteLedgerHead(FileSystem& file_system,
                             const std::string& run_dir, std::string_view head);

}  // namespace lockstep

#endif  // CKPT_LEDGER_HEAD_H_
