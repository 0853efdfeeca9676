// SIGTERM under a launcher: the end, in a moment, and time for a few words.
//
// What it is: a thread that sleeps until SIGTERM comes and then calls a
// function, on a thread where anything may be called. What it is not: a request
// to stop (signals.h), which is what SIGTERM means to a process that was
// started alone. Why so: when a rank dies, `mpirun` sends SIGTERM to the others
// and kills them a second later; a step takes longer than that, and a signal
// handler can write no file.
#ifndef LOCKSTEP_TOOLS_TERM_WATCH_H_
#define LOCKSTEP_TOOLS_TERM_WATCH_H_

#include <functional>
#include <thread>

namespace lockstep {

// Keeps SIGTERM from this thread and from all that it starts from now on; one
// that arrives stays pending until a TermWatch takes it. Before other threads
// are started.
void HoldTerm();
// It does again what signals.h or the system makes of it, on this thread.
void ReleaseTerm();

class TermWatch {
 public:
  // `on_term` is called once at most, and may end the process.
  explicit TermWatch(std::function<void()> on_term);
  ~TermWatch();
  TermWatch(const TermWatch&) = delete;
  TermWatch& operator=(const TermWatch&) = delete;

 private:
  void Watch();

  const std::function<void()> on_term_;
  const int signals_, stop_;  // file descriptors
  std::thread thread_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TERM_WATCH_H_
