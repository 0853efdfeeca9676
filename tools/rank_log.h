// RUN/logs/rank_N.log: what rank N did, in lines for people.
//
// What it is: a line an event, with time, host and process: what the rank
// began as, what it said, each save, how it ended. What it is not: a record:
// nothing reads it, steps are in metrics.jsonl, what happened to the run in
// ledger.jsonl, and what a survivor of a lost rank knew in ranks/N.json. Why
// so: the display is the first rank's alone, and of a job on many machines the
// question is often which of them said what, and when. A launch whose last line
// is no end was killed.
#ifndef LOCKSTEP_TOOLS_RANK_LOG_H_
#define LOCKSTEP_TOOLS_RANK_LOG_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"

namespace lockstep {

class RankLog {
 public:
  // One that was not opened keeps nothing.
  RankLog() = default;

  // Lines go behind those of earlier launches. Borrows `clock`.
  absl::Status Open(FileSystem& fs, Clock& clock, const std::string& run_dir,
                    int rank);

  // A line, more of them indented. A file that takes no more is said on stderr,
  // once: a run does not end for its log.
  void Say(std::string_view text);

 private:
  absl::Status Write(std::string_view text);

  Clock* clock_ = nullptr;
  std::string path_;
  std::string who_;  // "host:process"
  std::unique_ptr<WritableFile> file_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RANK_LOG_H_
