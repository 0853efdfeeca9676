#include "model/gradient_grid.h"

#include <algorithm>
#include <bit>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// log2 of a power of two.
int ExactLog2(double factor) {
  const uint64_t bits = std::bit_cast<uint64_t>(factor);
  LS_CHECK(factor > 0 && (bits & ((uint64_t{1} << 52) - 1)) == 0) << factor;
  return static_cast<int>(bits >> 52) - 1023;
}

}  // namespace

GradientGrid::GradientGrid(StateRegistry& registry,
                           const std::vector<ParameterSpec>& specs,
                           int64_t token_slices)
    : Stateful(registry, "gradient_grid"),
      exponent_(specs.size(), kNone),
      working_(exponent_),
      stats_(specs.size()) {
  for (const ParameterSpec& spec : specs) {
    names_.push_back(spec.name);
    cuts_.push_back(spec.token_sliced ? token_slices : 1);
  }
}

void GradientGrid::Forget() { exponent_.assign(exponent_.size(), kNone); }

void GradientGrid::BeginStep(int64_t leaves) {
  leaves_ = leaves;
  working_ = exponent_;
  overflowed_.clear();
}

void GradientGrid::BeginPass(ParameterStore& store) {
  for (Parameter& p : store.all()) {
    const int64_t exponent = working_[static_cast<size_t>(p.spec.index)];
    p.gradient.probe = exponent == kNone;
    p.gradient.exponent = p.gradient.probe ? 0 : static_cast<int>(exponent);
    *p.gradient.stats = GridStats{};
  }
}

bool GradientGrid::probes() const {
  return std::find(working_.begin(), working_.end(), kNone) != working_.end();
}

absl::Status GradientGrid::Collect(const ParameterStore& store,
                                   const ModelLayout& layout) {
  std::vector<float> most(names_.size(), 0.0f);
  std::vector<int64_t> below(names_.size(), 0);
  for (const Parameter& p : store.all()) {
    const auto tensor = static_cast<size_t>(p.spec.index);
    most[tensor] = p.gradient.stats->max_abs;
    const bool own_leaves = p.spec.token_sliced && layout.sequence_parallel;
    if (p.speaks || own_leaves) below[tensor] = p.gradient.stats->below_grid;
  }
  LS_RETURN_IF_ERROR(layout.world->AllReduceMax(std::span<float>(most)));
  LS_RETURN_IF_ERROR(layout.world->AllReduceSum(below));
  for (size_t i = 0; i < names_.size(); ++i) stats_[i] = {most[i], below[i]};
  return absl::OkStatus();
}

std::optional<std::string> GradientGrid::NonFinite() const {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (stats_[i].non_finite()) return names_[i];
  }
  return std::nullopt;
}

GridVerdict GradientGrid::Judge(double loss_scale) {
  GridVerdict verdict = GridVerdict::kDone;
  for (size_t i = 0; i < names_.size(); ++i) {
    const int64_t leaves = LeavesOf(i, leaves_);
    const float most = stats_[i].max_abs;
    if (working_[i] == kNone) {
      // A tensor that has had no gradient yet begins as if it had the scale's.
      const float begin = most == 0.0f ? static_cast<float>(loss_scale) : most;
      working_[i] = GridExponent(leaves, begin);
      if (verdict == GridVerdict::kDone) verdict = GridVerdict::kProbed;
    } else if (GridOverflows(most, static_cast<int>(working_[i]), leaves)) {
      working_[i] = GridExponent(leaves, most);
      overflowed_.push_back(names_[i]);
      verdict = GridVerdict::kOverflowed;
    }
  }
  return verdict;
}

std::map<std::string, int64_t> GradientGrid::BelowGrid() const {
  std::map<std::string, int64_t> lost;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (stats_[i].below_grid > 0) lost[names_[i]] = stats_[i].below_grid;
  }
  return lost;
}

void GradientGrid::Applied(int64_t leaves) {
  for (size_t i = 0; i < names_.size(); ++i) {
    const float most = stats_[i].max_abs;
    exponent_[i] =
        most == 0.0f ? working_[i] : GridExponent(LeavesOf(i, leaves), most);
  }
}

void GradientGrid::Skipped(double factor) {
  const int shift = ExactLog2(factor);
  for (int64_t& exponent : exponent_) {
    if (exponent == kNone) continue;
    exponent = std::clamp<int64_t>(exponent - shift, -kMostGridExponent,
                                   kMostGridExponent);
  }
}

void GradientGrid::VisitState(StateVisitor& visitor) {
  for (size_t i = 0; i < names_.size(); ++i) {
    visitor.I64(names_[i] + ".exponent", StateGroup::kGrid, exponent_[i]);
  }
}

}  // namespace lockstep
