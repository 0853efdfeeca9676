#include "tools/signals.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace lockstep {
namespace {

constexpr int kSignals[] = {SIGUSR1, SIGTERM, SIGINT};
constexpr int kStoppedExitCode = 8;
constexpr char kAtOnce[] =
    "lockstep: told twice to stop: stopped at once, without saving\n"
    "  where: after the last checkpoint\n"
    "  do: run the same command again to go on from there\n";
volatile sig_atomic_t g_received = 0;

void Receive(int signal) {
  if (g_received != 0 && signal != SIGUSR1) {
    // Of what a handler may call; whether it could be said changes nothing.
    if (write(STDERR_FILENO, kAtOnce, sizeof(kAtOnce) - 1) < 0) errno = 0;
    _exit(kStoppedExitCode);
  }
  if (g_received == 0) g_received = signal;
}

void Install(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  g_received = 0;
  Install(Receive);
}

StopSignals::~StopSignals() { Install(SIG_DFL); }

int StopSignals::received() const { return g_received; }

}  // namespace lockstep
