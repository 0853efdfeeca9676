#include "ckpt/curve_keys.h"

#include <algorithm>

#include "ckpt/value_changes.h"

namespace lockstep {
namespace {

bool ShapesTheCurve(std::string_view key) {
  return key == "schedule.shape" || key == "schedule.length" ||
         key == "schedule.warmup" || key == "schedule.decay";
}

bool IsOfTheCurve(std::string_view key) {
  return key == "schedule.length_samples" || key == "schedule.warmup_samples" ||
         key == "schedule.decay_samples";
}

}  // namespace

bool FollowsFromAnotherKey(std::string_view key, std::string_view saved,
                           std::string_view current) {
  if (!IsOfTheCurve(key)) return false;
  const auto changes =
      ChangesBetween(ParseValueLines(saved), ParseValueLines(current));
  return std::any_of(
      changes.begin(), changes.end(),
      [](const ValueChange& change) { return ShapesTheCurve(change.key); });
}

}  // namespace lockstep
