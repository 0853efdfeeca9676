#include "tools/rank_cores.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

std::vector<int> CoresOfProcess() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(getpid(), sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace

absl::Status StandOnCores(int place, int places) {
  const std::vector<int> cores = CoresOfProcess();
  const size_t share = cores.size() / static_cast<size_t>(places);
  if (share == 0) {
    return InputError(absl::StrCat(places, " ranks cannot change places on ",
                                   cores.size(), " core(s)"),
                      "--swap-ranks", "leave it out, or take fewer ranks");
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t i = 0; i < share; ++i) {
    CPU_SET(cores[static_cast<size_t>(place) * share + i], &set);
  }
  if (sched_setaffinity(0, sizeof(set), &set) == 0) return absl::OkStatus();
  return InputError(
      absl::StrCat("a thread cannot be moved: ", std::strerror(errno)),
      "--swap-ranks", "leave it out");
}

}  // namespace lockstep
