#include "tools/launch/launch_hosts.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace lockstep {

int64_t SlotsIn(const std::vector<LaunchHost>& hosts) {
  int64_t slots = 0;
  for (const LaunchHost& host : hosts) slots += host.slots;
  return slots;
}

std::vector<LaunchHost> Chosen(const std::vector<LaunchHost>& hosts,
                               int64_t world) {
  std::vector<LaunchHost> chosen;
  for (const bool spare : {false, true}) {
    for (const LaunchHost& host : hosts) {
      if (host.spare != spare || SlotsIn(chosen) >= world) continue;
      chosen.push_back(host);
    }
  }
  return chosen;
}

std::vector<std::string> IdleOf(const std::vector<LaunchHost>& chosen,
                                const std::vector<LaunchHost>& all,
                                int64_t world) {
  std::vector<std::string> idle;
  std::set<std::string> used;
  int64_t left = world;
  for (const LaunchHost& host : chosen) {
    const int64_t taken = std::min(host.slots, left);
    left -= taken;
    used.insert(host.name);
    if (taken < host.slots) {
      idle.push_back(absl::StrCat(host.name, ": ", host.slots - taken, " of ",
                                  host.slots, " slots"));
    }
  }
  for (const LaunchHost& host : all) {
    if (used.contains(host.name)) continue;
    idle.push_back(absl::StrCat(host.name, ": all of ", host.slots, " slots"));
  }
  return idle;
}

std::string WaitsFor(const std::vector<LaunchHost>& hosts, int64_t world,
                     int64_t most_ms) {
  return absl::StrCat(
      SlotsIn(hosts), " slot(s) on ", hosts.size(), " host(s) are too few for ",
      world, " rank(s): waiting for more, ", most_ms / 1000, " s at most");
}

int64_t NearestShared(int64_t micro_batches, int64_t replicas) {
  const int64_t below = micro_batches / replicas * replicas;
  const int64_t above = below + replicas;
  if (below == 0) return above;
  return above - micro_batches < micro_batches - below ? above : below;
}

}  // namespace lockstep
