#include "tools/signals.h"

#include <signal.h>
#include <unistd.h>

namespace lockstep {
namespace {

constexpr int kSignals[] = {SIGUSR1, SIGTERM, SIGINT};
constexpr int kStoppedExitCode = 8;
volatile sig_atomic_t g_received = 0;

void Receive(int signal) {
  if (g_received != 0 && signal != SIGUSR1) _exit(kStoppedExitCode);
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
