#include "tools/nearest_layout.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parallel/mesh.h"
#include "tools/layout_check.h"
#include "tools/run_config.h"

namespace lockstep {
namespace {

constexpr size_t kMostOffered = 3;
constexpr int64_t kMostTensorRanks = 64;  // slice_tree.h

// 0 for equal ones, 1 for twice or half, 2 for three times, ...
double Change(int64_t from, int64_t to) {
  return static_cast<double>(std::max(from, to)) /
             static_cast<double>(std::min(from, to)) -
         1.0;
}

int64_t WorldOf(const ParallelConfig& p) {
  return p.tensor * p.pipeline * p.data.value_or(1);
}

// How much a layout changes: other numbers of ranks after all others.
double Distance(const ParallelConfig& from, const ParallelConfig& to) {
  return Change(from.tensor, to.tensor) + Change(from.pipeline, to.pipeline) +
         Change(from.data.value_or(1), to.data.value_or(1)) +
         Change(from.interleave, to.interleave) +
         (WorldOf(from) == WorldOf(to) ? 0.0 : 1e3);
}

// Replicas worth a try beside so many other ranks: as many as now, as many as
// keep the ranks, as many as there are micro-batches for.
std::set<int64_t> DataDegrees(const RunConfig& config, int64_t replica) {
  if (!config.parallel.data.has_value()) return {1};
  const std::vector<int64_t> sizes = config.batches.sizes();
  const int64_t smallest = *std::min_element(sizes.begin(), sizes.end());
  const int64_t most = std::max<int64_t>(smallest / config.batch.micro, 1);
  std::set<int64_t> degrees;
  for (const int64_t data :
       {*config.parallel.data, WorldOf(config.parallel) / replica, most}) {
    degrees.insert(std::clamp<int64_t>(data, 1, most));
  }
  return degrees;
}

}  // namespace

std::vector<std::string> NearestLayouts(const RunConfig& config) {
  std::set<std::pair<double, std::string>> found;
  RunConfig trial = config;
  ParallelConfig& p = trial.parallel;
  const auto layers = static_cast<int64_t>(config.model.Layers().size());
  for (p.tensor = 1; p.tensor <= kMostTensorRanks; p.tensor *= 2) {
    for (p.pipeline = 1; p.pipeline <= layers; ++p.pipeline) {
      for (const int64_t interleave : std::set<int64_t>{
               1, 2, static_cast<int64_t>(config.parallel.interleave)}) {
        p.interleave = interleave;
        for (const int64_t data : DataDegrees(config, p.tensor * p.pipeline)) {
          if (config.parallel.data.has_value()) p.data = data;
          if (!LayoutErrors(trial).empty()) continue;
          const MeshShape shape = {static_cast<int>(data),
                                   static_cast<int>(p.pipeline),
                                   static_cast<int>(p.tensor)};
          std::string text =
              absl::StrCat(ToString(shape), " (", shape.world(),
                           shape.world() == 1 ? " rank)" : " ranks)");
          if (interleave > 1)
            absl::StrAppend(&text, ", interleave ", interleave);
          found.emplace(Distance(config.parallel, p), std::move(text));
        }
      }
    }
  }
  std::vector<std::string> nearest;
  for (const auto& [distance, text] : found) {
    if (nearest.size() < kMostOffered) nearest.push_back(text);
  }
  return nearest;
}

}  // namespace lockstep
