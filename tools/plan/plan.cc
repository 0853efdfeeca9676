#include "tools/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/status.h"
#include "tools/layout_check.h"
#include "tools/plan/layout_costs.h"

namespace lockstep {
namespace {

// More chunks than these make messages and not much less of a bubble.
std::set<int64_t> Interleavings(const RunConfig& recipe) {
  return {1, 2, 4, 8, recipe.parallel.interleave};
}

// The recipe on other degrees, with as many replicas as `world` has room for
// and the rules admit; nothing where some other rule is broken.
std::optional<RunConfig> Admitted(RunConfig config, int64_t world,
                                  int64_t tensor, int64_t pipeline,
                                  int64_t interleave) {
  const int64_t data = world / (tensor * pipeline);
  if (data == 0) return std::nullopt;
  config.parallel.tensor = tensor;
  config.parallel.pipeline = pipeline;
  config.parallel.interleave = interleave;
  config.parallel.data = data;
  for (const LayoutError& error : LayoutErrors(config)) {
    int64_t nearest = 0;
    if (error.key != "data" || !absl::SimpleAtoi(error.nearest, &nearest)) {
      return std::nullopt;
    }
    config.parallel.data = std::min(data, nearest);
  }
  if (!LayoutErrors(config).empty()) return std::nullopt;
  return config;
}

double Between(const PlannedLayout& layout) {
  double bytes = 0;
  for (const MeshAxis axis : layout.crosses) {
    const RankTraffic& t = layout.traffic;
    bytes += axis == MeshAxis::kData       ? t.data.bytes
             : axis == MeshAxis::kPipeline ? t.pipeline.bytes
                                           : t.tensor.bytes;
  }
  return bytes;
}

double AllBytes(const PlannedLayout& layout) {
  const RankTraffic& t = layout.traffic;
  return t.data.bytes + t.pipeline.bytes + t.tensor.bytes;
}

// Whole percents of the busiest, so that a hair's breadth of balance buys no
// messages.
double Percent(double busy, double busiest) {
  return std::floor(busy / busiest * 100 + 1e-9);
}

auto Order(const PlannedLayout& layout, double busiest, double memory_bytes) {
  return std::make_tuple(
      !layout.Fits(memory_bytes), -Percent(layout.busy, busiest),
      Between(layout), AllBytes(layout), layout.memory.total(),
      layout.shape.tensor, layout.shape.pipeline, layout.interleave);
}

absl::Status NoneFits(const PlannedLayout& least, double memory_bytes) {
  return InputError(
      absl::StrFormat("no layout needs %.0f bytes a rank or less",
                      memory_bytes),
      absl::StrFormat("the one that needs least is %s, interleave %d: %.0f "
                      "bytes a rank",
                      ToString(least.shape), least.interleave,
                      least.memory.total()),
      "give ranks of more memory (--memory) or more of them (--world), lower "
      "batch.micro, or set train.recompute");
}

// The recipe on the layout that a launch of `world` ranks gives it.
RunConfig OnItsLayout(const RunConfig& recipe, int64_t world) {
  const ParallelConfig& p = recipe.parallel;
  if (p.data) return recipe;
  return Admitted(recipe, world, p.tensor, p.pipeline, p.interleave)
      .value_or(recipe);
}

// The best first.
void Sort(std::vector<PlannedLayout>& layouts, double memory_bytes) {
  double busiest = 0;
  for (const PlannedLayout& layout : layouts) {
    if (layout.Fits(memory_bytes)) busiest = std::max(busiest, layout.busy);
  }
  busiest = std::max(busiest, 1e-9);
  std::sort(layouts.begin(), layouts.end(),
            [&](const PlannedLayout& a, const PlannedLayout& b) {
              return Order(a, busiest, memory_bytes) <
                     Order(b, busiest, memory_bytes);
            });
}

// The recipe's own, where there are ranks for it and it is not there: it may
// have fewer replicas than there could be.
absl::Status AddOwn(const RunConfig& recipe, const PlanRequest& request,
                    LayoutCosts& costs, std::vector<PlannedLayout>& layouts) {
  if (recipe.parallel.world() > request.world) return absl::OkStatus();
  if (std::any_of(layouts.begin(), layouts.end(),
                  [](const PlannedLayout& layout) { return layout.current; })) {
    return absl::OkStatus();
  }
  if (!LayoutErrors(recipe).empty()) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(PlannedLayout own, costs.Of(recipe));
  layouts.push_back(std::move(own));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PlannedLayout>> Enumerate(
    const RunConfig& config, const PlanRequest& request) {
  const RunConfig recipe = OnItsLayout(config, request.world_before);
  LayoutCosts costs(recipe, request);
  std::vector<PlannedLayout> layouts;
  const auto layers = static_cast<int64_t>(config.model.Layers().size());
  const int64_t stages = std::min(layers, kMostPlannedStages);
  for (int64_t tensor = 1; tensor <= std::min(request.world, kMostTensor);
       ++tensor) {
    if (!Admitted(config, request.world, tensor, 1, 1)) continue;
    for (int64_t pipeline = 1; pipeline <= stages; ++pipeline) {
      for (const int64_t interleave : Interleavings(config)) {
        if (pipeline * interleave > stages) continue;
        const auto admitted =
            Admitted(config, request.world, tensor, pipeline, interleave);
        if (!admitted) continue;
        LS_ASSIGN_OR_RETURN(PlannedLayout layout, costs.Of(*admitted));
        layouts.push_back(std::move(layout));
      }
    }
  }
  LS_RETURN_IF_ERROR(AddOwn(recipe, request, costs, layouts));
  return layouts;
}

}  // namespace

absl::StatusOr<std::vector<PlannedLayout>> PlanLayouts(
    const RunConfig& config, const PlanRequest& request) {
  LS_ASSIGN_OR_RETURN(std::vector<PlannedLayout> layouts,
                      Enumerate(config, request));
  if (layouts.empty()) {
    return InputError(
        absl::StrCat("no layout fits ", request.world, " rank(s)"),
        "section [parallel]", "`lockstep recipe check` names what is wrong");
  }
  Sort(layouts, request.memory_bytes);
  if (layouts.front().Fits(request.memory_bytes)) return layouts;
  return NoneFits(
      *std::min_element(layouts.begin(), layouts.end(),
                        [](const PlannedLayout& a, const PlannedLayout& b) {
                          return a.memory.total() < b.memory.total();
                        }),
      request.memory_bytes);
}

std::string WhyFirst(const std::vector<PlannedLayout>& layouts,
                     const PlanRequest& request) {
  const PlannedLayout& first = layouts.front();
  std::string why = absl::StrFormat(
      "%.1f %% of all ranks' time computes, and no layout that fits has more "
      "by a hundredth; of those that come as near it ",
      100 * first.busy);
  const bool hosts = request.hosts.size() > 1;
  absl::StrAppend(&why, hosts ? "says least between hosts, then " : "",
                  "says least");
  if (request.memory_bytes <= 0) {
    absl::StrAppend(
        &why, "; whether its bytes fit a rank is yours to say (--memory)");
  }
  return why;
}

}  // namespace lockstep
