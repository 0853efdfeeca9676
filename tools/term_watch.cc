#include "tools/term_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "determinism/check.h"

namespace lockstep {
namespace {

sigset_t Term() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

void SetMask(int how) {
  const sigset_t set = Term();
  LS_CHECK_EQ(pthread_sigmask(how, &set, nullptr), 0);
}

int SignalFile() {
  const sigset_t set = Term();
  return signalfd(-1, &set, SFD_CLOEXEC);
}

}  // namespace

void HoldTerm() { SetMask(SIG_BLOCK); }
void ReleaseTerm() { SetMask(SIG_UNBLOCK); }

TermWatch::TermWatch(std::function<void()> on_term)
    : on_term_(std::move(on_term)),
      signals_(SignalFile()),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  LS_CHECK(signals_ >= 0 && stop_ >= 0) << "errno " << errno;
  thread_ = std::thread([this] { Watch(); });
}

TermWatch::~TermWatch() {
  const uint64_t one = 1;
  LS_CHECK_EQ(write(stop_, &one, sizeof(one)),
              static_cast<ssize_t>(sizeof(one)));
  thread_.join();
  close(signals_);
  close(stop_);
}

void TermWatch::Watch() {
  pollfd files[] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                    {.fd = stop_, .events = POLLIN, .revents = 0}};
  while (poll(files, 2, -1) < 0) LS_CHECK_EQ(errno, EINTR);
  if ((files[0].revents & POLLIN) != 0) on_term_();
}

}  // namespace lockstep
