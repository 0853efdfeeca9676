// RUN/ledger.jsonl: what happened to a run, in a chain nobody can cut unseen.
//
// One JSON object a line, appended and synced one at a time; each holds the
// SHA-256 of the line before (`prev`) and a check of itself (`sum`), so damage
// anywhere is found and named by line. A line that a crash tore off is moved to
// ledger.torn-N and recorded as an event. What is cut off the end cleanly is
// found by whoever holds the head: RUN/ledger_head has the newest, and each
// checkpoint the one of its time (Contains).
// Not a log: numbers of steps go to metrics.jsonl, chatter to the logs. The
// thread that trains and the one that saves both append: one line at a time.
//
// Events: launch resume allowed_difference checkpoint layout_change skip spike
// skip_list batch_size fault grid_recompute stop abandoned_tail torn_line fork
// checkpoint_skipped retention tensorboard_stop lost_lines.

#ifndef CKPT_LEDGER_H_
#define CKPT_LEDGER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"

namespace lockstep {

class RunLock;
struct LedgerHead;

using LedgerValue =
    std::variant<bool, int64_t, double, std::string, std::vector<std::string>,
                 std::map<std::string, std::string>>;
// In the order given; names are snake_case and not seq, time_ms, event, prev,
// sum.
using LedgerFields = std::vector<std::pair<std::string, LedgerValue>>;

struct LedgerEntry {
  int64_t seq = 0;  // from 0
  int64_t time_ms = 0;
  std::string event;
  std::string line;    // the whole object, without the newline
  std::string sha256;  // of `line`

  // The field as text, or "" where there is none.
  std::string Field(std::string_view name) const;
};

// Read-only view. ManifestMismatch names the first damaged line; a torn last
// line is no damage, and comes back in `torn`.
struct LedgerReport {
  std::vector<LedgerEntry> entries;
  std::string torn;
  bool Contains(std::string_view head) const;
};
// Bytes of the file, of the line that is damaged.
struct LedgerDamage {
  uint64_t from = 0;
  uint64_t to = 0;
};
// `damage`, if it is given, says where on ManifestMismatch.
absl::StatusOr<LedgerReport> ReadLedger(FileSystem& file_system,
                                        const std::string& run_dir,
                                        LedgerDamage* damage = nullptr);

// 64 zeros: what the first line names as the one before.
std::string LedgerGenesis();

class Ledger {
 public:
  // Verifies the chain, or starts one. `clock` and `lock` are not owned; with a
  // lock each append first checks that it is still ours.
  static absl::StatusOr<std::unique_ptr<Ledger>> Open(
      FileSystem& file_system, const std::string& run_dir, Clock& clock,
      const RunLock* lock);

  // On the device when it returns OK. After an error the ledger takes no
  // more: open it again.
  absl::Status Append(std::string_view event, const LedgerFields& fields = {});

  // SHA-256 of the last line; the genesis of an empty ledger.
  std::string Head() const;
  // Whether `head` is the genesis or a line of this chain.
  bool Contains(std::string_view head) const;
  // ManifestMismatch unless it does: `holder`, which remembers the head, knows
  // of events that this file has lost.
  absl::Status CheckHolds(std::string_view head, std::string_view holder) const;
  // While nobody appends.
  const std::vector<LedgerEntry>& entries() const { return entries_; }

 private:
  Ledger(FileSystem& file_system, std::string run_dir, Clock& clock,
         const RunLock* lock);
  absl::Status RecordLostLines(const LedgerHead& newest);
  // The name of the new file.
  absl::StatusOr<std::string> MoveTornLineAside(const std::string& torn);
  absl::Status WriteLine(const std::string& line);

  FileSystem& file_system_;
  const std::string run_dir_;
  Clock& clock_;
  const RunLock* const lock_;
  std::unique_ptr<WritableFile> file_;
  mutable std::mutex mutex_;  // over what follows
  std::vector<LedgerEntry> entries_;
  std::string head_;
  bool broken_ = false;
};

}  // namespace lockstep

#endif  // CKPT_LEDGER_H_
