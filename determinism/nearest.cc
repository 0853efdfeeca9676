#include "determinism/nearest.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace lockstep {

int64_t EditDistance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int64_t> table((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> int64_t& {
    return table[i * width + j];
  };
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = static_cast<int64_t>(i + j);
        continue;
      }
      const int64_t replaced = at(i - 1, j - 1) + (a[i - 1] != b[j - 1]);
      int64_t best = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) best = std::min(best, at(i - 2, j - 2) + 1);
      at(i, j) = best;
    }
  }
  return at(a.size(), b.size());
}

std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> valid) {
  std::string_view nearest;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const std::string_view candidate : valid) {
    const int64_t distance = EditDistance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string JoinNames(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text.append(", ");
    text.append(name);
  }
  return text;
}

}  // namespace lockstep
