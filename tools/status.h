// Where a run stands, told from its folder alone.
//
// What it is: manifest, last line of metrics, newest complete checkpoint,
// ledger, and who holds the lock, read while a trainer may be writing. What it
// is not: a verification (`ckpt verify`): of a checkpoint it reads the index,
// whose seal must hold, and the sizes of its files. Why so: it must answer in
// moments, whatever a trainer does meanwhile, and never stand in its way: it
// writes nothing and takes no lock, not even for an instant, since a trainer
// that starts just then would be refused.
#ifndef LOCKSTEP_TOOLS_STATUS_H_
#define LOCKSTEP_TOOLS_STATUS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// Of RUN/lock.
enum class TrainerState : uint8_t {
  kNone,       // nobody holds it, and the last trainer ended in order
  kAlive,      // held by a process of this machine
  kStale,      // not held, and the last trainer did not get to say "stop"
  kElsewhere,  // last taken on another host, whose locks cannot be seen here
};
const char* NameOf(TrainerState state);

struct TrainerStatus {
  TrainerState state = TrainerState::kNone;
  int64_t pid = 0;  // the last holder's, as its lines of RUN/lock say
  std::string host;
  int64_t generation = 0;
  int64_t since_ms = 0;  // Unix time
};

// `ended`: whether the ledger's last word is a trainer's "stop". `locks` is the
// text of /proc/locks, in which `lock_inode` is looked for.
TrainerStatus JudgeLock(const std::string& lock_file, const std::string& host,
                        bool ended, const std::string& locks,
                        uint64_t lock_inode);

// InputError when there is no run.
absl::StatusOr<nlohmann::ordered_json> RunStatus(FileSystem& fs,
                                                 const std::string& run_dir);

// The same for people, some lines.
std::string StatusText(const nlohmann::ordered_json& status);

// The last line of `text` that is whole and an object; null where none is.
nlohmann::ordered_json LastLine(std::string_view text);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STATUS_H_
