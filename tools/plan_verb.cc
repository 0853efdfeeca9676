// `lockstep plan RECIPE --world N`.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/plan/report.h"
#include "tools/run_setup.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

absl::StatusOr<std::vector<Host>> HostsOf(const PlanOptions& o) {
  if (!o.hosts.empty() && o.ranks_per_host) {
    return InputError("--hosts and --ranks-per-host say two different things",
                      "--hosts " + o.hosts, "give one of them");
  }
  if (!o.hosts.empty()) return ReadHosts(*PosixFileSystem(), o.hosts);
  if (o.ranks_per_host) return EvenHosts(o.world, *o.ranks_per_host);
  if (o.lost.empty()) return std::vector<Host>();
  return InputError("a lost host is one of several, and none is known",
                    "--lost " + o.lost[0],
                    "give --hosts FILE or --ranks-per-host K");
}

// What the ranks of the hosts that are left can do.
absl::StatusOr<PlanRequest> RequestOf(const PlanOptions& o) {
  PlanRequest request = {.world = o.world,
                         .world_before = o.world,
                         .memory_bytes = static_cast<double>(o.memory_bytes)};
  LS_ASSIGN_OR_RETURN(request.hosts, HostsOf(o));
  if (request.hosts.empty()) return request;
  const int64_t slots = SlotsOf(request.hosts);
  if (slots < o.world) {
    return InputError(
        absl::StrCat("the hosts take ", slots, " rank(s), and the world has ",
                     o.world),
        "--world " + std::to_string(o.world),
        absl::StrCat("give --world ", slots, " or less, or more hosts"));
  }
  LS_ASSIGN_OR_RETURN(request.hosts, WithoutHosts(request.hosts, o.lost));
  request.world = std::min(o.world, SlotsOf(request.hosts));
  if (request.world == 0) {
    return InputError("every host is lost: no rank is left to plan for",
                      "--lost " + o.lost.back(), "leave one of them");
  }
  return request;
}

}  // namespace

absl::StatusOr<Answer> PlanVerb(const PlanOptions& options) {
  LS_ASSIGN_OR_RETURN(const PlanRequest request, RequestOf(options));
  LS_ASSIGN_OR_RETURN(
      const ResolvedRun run,
      ResolveRun(*PosixFileSystem(), options.recipe, options.sets, ""));
  LS_ASSIGN_OR_RETURN(const std::vector<PlannedLayout> layouts,
                      PlanLayouts(run.config, request));
  return Answer{options.json ? PlanJson(layouts, request)
                             : PlanText(layouts, request)};
}

}  // namespace lockstep
