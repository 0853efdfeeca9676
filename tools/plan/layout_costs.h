// What one layout of a plan costs, with what many layouts share kept.
//
// What it is: the formula of model/layout_cost.h asked for each pipeline rank
// of a layout, and what follows from counts: bubble, busy share, axes between
// hosts, the guarantee that is kept. What it is not: the choice of layouts.
#ifndef LOCKSTEP_TOOLS_PLAN_LAYOUT_COSTS_H_
#define LOCKSTEP_TOOLS_PLAN_LAYOUT_COSTS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "model/layout_cost.h"
#include "parallel/stage_balance.h"
#include "tools/plan/plan.h"

namespace lockstep {

// The most tensor ranks that a sum's slices can lie on (tensor_cut.h).
constexpr int64_t kMostTensor = 64;

class LayoutCosts {
 public:
  // `recipe` is on the layout that it has now. Both are borrowed.
  LayoutCosts(const RunConfig& recipe, const PlanRequest& request);

  // `config` is the recipe's on a layout that its rules admit.
  absl::StatusOr<PlannedLayout> Of(const RunConfig& config);

 private:
  absl::StatusOr<const std::vector<StageRange>*> Stages(int64_t stages);
  const TensorRankCosts& Tensor(int64_t degree);
  double Bubble(PipelineShape shape);
  // Mean over dearest pipeline rank.
  double StageBalance(const PipelineShape& shape,
                      const std::vector<StageRange>& stages) const;
  std::vector<MeshAxis> Crosses(const MeshShape& shape) const;

  const RunConfig& recipe_;
  const PlanRequest& request_;
  const std::vector<int> host_of_;    // of each rank; empty: unknown
  const std::vector<int64_t> flops_;  // by layer
  std::map<int64_t, std::vector<StageRange>> stages_;
  std::map<int64_t, TensorRankCosts> tensor_;
  std::map<std::tuple<int, int, int64_t>, double> bubbles_;
};

// The highest rung up to the recipe's that a run keeps when it goes on from one
// layout on another: by the table of what a resume accepts
// (ckpt/manifest_compare.h).
Guarantee KeptGuarantee(const RunConfig& from, const RunConfig& to);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_PLAN_LAYOUT_COSTS_H_
