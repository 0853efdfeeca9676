// One line of the ledger: made, and checked by itself. Inside ckpt only.

#ifndef CKPT_LEDGER_LINE_H_
#define CKPT_LEDGER_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/ledger.h"

namespace lockstep {

// Without the newline. `prev` is the SHA-256 of the line before.
std::string MakeLedgerLine(int64_t seq, int64_t time_ms, std::string_view event,
                           const LedgerFields& fields, std::string_view prev);

struct LedgerLine {
  LedgerEntry entry;
  std::string prev;
};

// False for a line that is not whole: its check of itself does not hold.
bool ParseLedgerLine(std::string_view line, LedgerLine& out);

std::string LedgerPath(const std::string& run_dir);
// Whether `head` is the genesis or one of them.
bool ChainHolds(const std::vector<LedgerEntry>& entries, std::string_view head);

}  // namespace lockstep

#endif  // CKPT_LEDGER_LINE_H_
