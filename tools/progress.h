// The training display: one live line on a terminal, plain lines elsewhere.
//
// What it is: loss, tokens a second, model FLOP utilisation and time left, on
// stderr; and the lines that stay, also in the rank's log. What it is not: a
// record; metrics.jsonl is. Why so: a log file wants a line now and then, a
// person wants to see it move.
#ifndef LOCKSTEP_TOOLS_PROGRESS_H_
#define LOCKSTEP_TOOLS_PROGRESS_H_

#include <cstdint>
#include <string_view>

#include "determinism/clock.h"
#include "tools/rank_log.h"
#include "tools/step_report.h"

namespace lockstep {

class Progress {
 public:
  // `quiet` shows nothing at all; `log` (borrowed) has it all the same.
  Progress(Clock& clock, RankLog& log, int64_t first_step, int64_t last_step,
           bool quiet);
  ~Progress();

  void Step(const StepReport& report);
  // Micro-batch `done` of `of` of a step is done; shown in steps of more than
  // ten seconds, and every ten seconds.
  void MicroBatch(int64_t step, int64_t done, int64_t of);
  // A line that stays, above the live one.
  void Say(std::string_view line);
  // One that a person must see, quiet or not.
  void Warn(std::string_view line);
  // One that is for the log alone.
  void Note(std::string_view line) { log_.Say(line); }

 private:
  bool Due(const StepReport& report);
  void Show(std::string_view line);
  void Print(std::string_view line);
  void EraseLine();

  Clock& clock_;
  RankLog& log_;
  const int64_t first_step_;
  const int64_t last_step_;
  const bool quiet_;
  const bool terminal_;
  const int64_t start_ns_;
  int64_t shown_ns_ = 0;
  int64_t step_ = 0;     // whose micro-batches are being counted
  int64_t step_ns_ = 0;  // when its first one was done
  bool line_open_ = false;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_PROGRESS_H_
