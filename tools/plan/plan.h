// Every layout that a number of ranks can have, with what it costs.
//
// What it is: for each tensor and pipeline degree and interleaving that a
// launch would admit (tools/layout_check.h; no rule stands here) as many
// replicas as there are ranks and micro-batches for, with bytes a rank,
// messages, bubble, idle ranks and the guarantee that a change to it keeps; the
// one to take first. What it is not: a measurement or a schedule of time: it
// knows counts, not speeds. Why so: after a host is lost somebody must choose a
// layout within minutes, for ranks that no test machine has.
#ifndef LOCKSTEP_TOOLS_PLAN_PLAN_H_
#define LOCKSTEP_TOOLS_PLAN_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/guarantee.h"
#include "model/layout_cost.h"
#include "parallel/mesh.h"
#include "tools/plan/hosts.h"
#include "tools/run_config.h"

namespace lockstep {

constexpr int64_t kMostPlannedRanks = 65'536;
// Layouts of more stages are not listed.
constexpr int64_t kMostPlannedStages = 128;

struct PlanRequest {
  int64_t world = 1;
  // The ranks that the run has now: `world`, unless hosts are lost.
  int64_t world_before = 1;
  std::vector<Host> hosts = {};  // empty: unknown
  double memory_bytes = 0;       // a rank's; 0: unknown
};

struct PlannedLayout {
  MeshShape shape = {};
  int interleave = 1;
  int64_t idle = 0;          // ranks that the layout has no use for
  RankMemory memory = {};    // of the rank that needs most
  RankTraffic traffic = {};  // of the rank that says most, by axis
  double bubble = 0;         // share of the step in which a pipeline rank waits
  // Share of all ranks' time that computes, counted in FLOPs: less than 1 for
  // idle ranks, unequal shares of the batch, unequal stages, and the bubble.
  double busy = 0;
  std::vector<MeshAxis> crosses = {};  // axes whose ranks are on several hosts
  Guarantee keeps = Guarantee::kStatistical;
  bool current = false;  // the recipe's own

  bool Fits(double memory_bytes) const {
    return memory_bytes <= 0 || memory.total() <= memory_bytes;
  }
};

// The best first. InputError where none fits into the memory, with the one that
// needs least.
absl::StatusOr<std::vector<PlannedLayout>> PlanLayouts(
    const RunConfig& config, const PlanRequest& request);

// Why the first of the list is the first.
std::string WhyFirst(const std::vector<PlannedLayout>& layouts,
                     const PlanRequest& request);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_PLAN_PLAN_H_
