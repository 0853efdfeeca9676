// The process: what it asks of the system before any verb runs.
#include <csignal>

#include "tools/cli.h"

int main(int argc, char** argv) {
  // A file over the size limit is then an error of its write, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return lockstep::RunCommandLine(argc, argv);
}
