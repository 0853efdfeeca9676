// How a key's type and range read in help and in messages.

#include <limits>

#include "recipes/take.h"

namespace lockstep {
namespace {

std::string RangeText(const std::string& low, const std::string& high) {
  if (!low.empty() && !high.empty()) {
    return " " + low + " and " + high;
  }
  return low + high == "" ? "" : " " + low + high;
}

std::string CountText(int64_t min_count, int64_t max_count) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  if (min_count == max_count) {
    return " of " + IntText(min_count);
  }
  if (min_count > 0 && max_count < kAny) {
    return " of " + IntText(min_count) + " to " + IntText(max_count);
  }
  if (min_count > 0) {
    return " of at least " + IntText(min_count);
  }
  return max_count < kAny ? " of at most " + IntText(max_count) : "";
}

}  // namespace

std::string TypeText(const IntOptions& options) {
  using Limits = std::numeric_limits<int64_t>;
  std::string text = "an integer";
  text += RangeText(
      options.min > Limits::min() ? ">= " + IntText(options.min) : "",
      options.max < Limits::max() ? "<= " + IntText(options.max) : "");
  if (options.multiple_of > 1) {
    text += ", a multiple of " + IntText(options.multiple_of);
  }
  return text;
}

std::string TypeText(const RealOptions& options) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::string low =
      options.min > -kInfinity ? ">= " + RealText(options.min) : "";
  std::string high =
      options.max < kInfinity ? "<= " + RealText(options.max) : "";
  if (options.above > -kInfinity) {
    low = "> " + RealText(options.above);
  }
  if (options.below < kInfinity) {
    high = "< " + RealText(options.below);
  }
  return "a real" + RangeText(low, high);
}

std::string ListTypeText(int64_t min_count, int64_t max_count,
                         const std::string& item) {
  return "a list" + CountText(min_count, max_count) + ", each " + item;
}

std::string ChoiceTypeText(const std::vector<std::string>& allowed) {
  std::string text = "one of ";
  for (size_t i = 0; i < allowed.size(); ++i) {
    text += (i > 0 ? ", " : "") + QuotedText(allowed[i]);
  }
  return text;
}

}  // namespace lockstep
