#include "tools/layout_check.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "model/tensor_cut.h"
#include "tools/nearest_layout.h"
#include "tools/run_config.h"

namespace lockstep {
namespace {

using Errors = std::vector<LayoutError>;

// A sum is joined by a tree of its slices (N4), so their number and the ranks
// among which they lie are powers of two.
void CheckTensorDegree(Errors& errors, const RunConfig& c) {
  const int64_t degree = c.parallel.tensor;
  const auto refuse = [&](const std::string& why, int64_t nearest) {
    errors.push_back({"parallel", "tensor",
                      absl::StrCat("parallel.tensor = ", degree, why),
                      std::to_string(nearest)});
  };
  if ((degree & (degree - 1)) != 0) {
    return refuse(" is no power of two",
                  std::bit_floor(static_cast<uint64_t>(degree)));
  }
  if (c.model.Has(LayerKind::kMamba2) && c.model.groups % degree != 0) {
    refuse(absl::StrCat(" does not divide model.groups = ", c.model.groups,
                        "; the gated norm of a part of a group is another "
                        "function"),
           std::gcd(degree, c.model.groups));
  }
  if (c.guarantee == Guarantee::kLayoutInvariant &&
      c.grid.tensor % degree != 0) {
    refuse(absl::StrCat(" does not divide grid.tensor = ", c.grid.tensor),
           c.grid.tensor);
  }
}

// The slices of sums: the grid's in `layout_invariant`, elsewhere one a rank.
void CheckSlices(Errors& errors, const RunConfig& c) {
  const bool invariant = c.guarantee == Guarantee::kLayoutInvariant;
  const char* section = invariant ? "grid" : "parallel";
  const int64_t slices = invariant ? c.grid.tensor : c.parallel.tensor;
  if ((slices & (slices - 1)) != 0) return;  // told already
  const auto uncut = FindUncut(c.model, slices, c.data.sequence);
  if (!uncut.has_value()) return;
  errors.push_back(
      {section, "tensor",
       absl::StrCat(section, ".tensor = ", slices, " does not divide ",
                    uncut->key, " = ", uncut->size),
       std::to_string(NearestGrid(c.model, slices, c.data.sequence))});
}

void CheckStages(Errors& errors, const RunConfig& c) {
  const int64_t stages = c.parallel.pipeline * c.parallel.interleave;
  const auto layers = static_cast<int64_t>(c.model.Layers().size());
  const auto cuts = static_cast<int64_t>(c.model.StageStarts().size());
  if (layers == 0) return;  // told already
  if (stages > layers) {
    errors.push_back(
        {"parallel", "pipeline",
         absl::StrCat(stages, " stages for ", layers, " layers"),
         std::to_string(std::max<int64_t>(layers / c.parallel.interleave, 1))});
  } else if (cuts > 1 && stages > 1 && cuts != stages) {
    errors.push_back({"model", "pattern",
                      absl::StrCat("the pattern is cut into ", cuts,
                                   " stages; parallel.pipeline * "
                                   "parallel.interleave is ",
                                   stages)});
  }
}

void CheckInterleave(Errors& errors, const RunConfig& c) {
  if (c.parallel.interleave == 1 || c.parallel.pipeline > 1) return;
  errors.push_back(
      {"parallel", "interleave",
       absl::StrCat("parallel.interleave = ", c.parallel.interleave,
                    " without a pipeline to interleave"),
       "1"});
}

void CheckReplicas(Errors& errors, const RunConfig& c) {
  const int64_t data = c.parallel.data.value_or(1);
  const std::vector<int64_t> sizes = c.batches.sizes();
  const int64_t smallest = *std::min_element(sizes.begin(), sizes.end());
  if (smallest < c.batch.micro || data <= smallest / c.batch.micro) return;
  errors.push_back({"parallel", "data",
                    absl::StrCat("parallel.data = ", data, " replicas for ",
                                 smallest / c.batch.micro, " micro-batches"),
                    std::to_string(smallest / c.batch.micro)});
}

// Whether the value that an error offers mends it without breaking another
// rule.
bool Fits(RunConfig config, const LayoutError& error) {
  int64_t value = 0;
  if (error.section != "parallel" || !absl::SimpleAtoi(error.nearest, &value)) {
    return true;
  }
  ParallelConfig& p = config.parallel;
  if (error.key == "tensor") p.tensor = value;
  if (error.key == "pipeline") p.pipeline = value;
  if (error.key == "interleave") p.interleave = value;
  if (error.key == "data") p.data = value;
  return LayoutErrors(config).empty();
}

}  // namespace

int64_t LargestDivisor(int64_t n, int64_t limit) {
  for (int64_t divisor = std::min(n, limit); divisor > 1; --divisor) {
    if (n % divisor == 0) return divisor;
  }
  return 1;
}

std::vector<LayoutError> LayoutErrors(const RunConfig& config) {
  Errors errors;
  CheckTensorDegree(errors, config);
  CheckSlices(errors, config);
  CheckStages(errors, config);
  CheckInterleave(errors, config);
  CheckReplicas(errors, config);
  return errors;
}

void CheckLayout(Recipe& recipe, const RunConfig& config) {
  const Errors errors = LayoutErrors(config);
  if (errors.empty()) return;
  const std::vector<std::string> nearest = NearestLayouts(config);
  for (const LayoutError& error : errors) {
    // A recipe's errors begin with key and value.
    std::string message(absl::StripPrefix(
        error.message, absl::StrCat(error.section, ".", error.key, " = ")));
    recipe.Error(error.section, error.key,
                 nearest.empty()
                     ? message
                     : absl::StrCat(message, " (layouts that fit: ",
                                    absl::StrJoin(nearest, "; "), ")"),
                 Fits(config, error) ? error.nearest : "");
  }
}

}  // namespace lockstep
