// Requests to stop that arrive as signals.
//
// What it is: SIGUSR1, SIGTERM and SIGINT raise a flag that the loop reads once
// a step; a second one ends the process at once, which leaves the last
// checkpoint intact, since checkpoints are complete or absent. What it is not:
// a way to act inside a step. Why so: the flag is the only mutable global of
// the project: a signal handler can reach nothing else.
#ifndef LOCKSTEP_TOOLS_SIGNALS_H_
#define LOCKSTEP_TOOLS_SIGNALS_H_

namespace lockstep {

// Installs the handlers; the default ones come back on destruction. One a
// process at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The first signal received since construction, or 0.
  int received() const;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SIGNALS_H_
