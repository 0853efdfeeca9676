#include "tools/tax/tax_numbers.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "determinism/check.h"

namespace lockstep {
namespace {

double MedianOfSorted(const std::vector<double>& sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half]
                                : (sorted[half - 1] + sorted[half]) / 2;
}

TaxInterval IntervalOf(std::vector<double> taxes) {
  std::sort(taxes.begin(), taxes.end());
  const auto place =
      static_cast<size_t>(IntervalPlace(static_cast<int64_t>(taxes.size())));
  return {.tax = MedianOfSorted(taxes),
          .low = taxes[place],
          .high = taxes[taxes.size() - 1 - place]};
}

}  // namespace

// The largest k with P(fewer than k + 1 of n values below the median) <= 2.5 %.
int64_t IntervalPlace(int64_t n) {
  LS_CHECK_GE(n, 1);
  double power = 1;
  for (int64_t i = 0; i < n; ++i) power /= 2;
  double ways = 1, below = 0;
  for (int64_t k = 0; k <= n / 2; ++k) {
    below += ways * power;
    if (below > 0.025) return std::max<int64_t>(k - 1, 0);
    ways = ways * static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return n / 2;
}

TaxInterval TaxOf(std::span<const double> times, std::span<const double> fast) {
  LS_CHECK_EQ(times.size(), fast.size());
  std::vector<double> taxes;
  for (size_t i = 0; i < times.size(); ++i) {
    taxes.push_back(times[i] / fast[i] - 1);
  }
  return IntervalOf(std::move(taxes));
}

TaxInterval TaxOfStep(std::span<const double> times,
                      std::span<const double> fast,
                      std::span<const double> fast_step) {
  LS_CHECK_EQ(times.size(), fast.size());
  LS_CHECK_EQ(times.size(), fast_step.size());
  std::vector<double> taxes;
  for (size_t i = 0; i < times.size(); ++i) {
    taxes.push_back((times[i] - fast[i]) / fast_step[i]);
  }
  return IntervalOf(std::move(taxes));
}

double MedianOf(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return MedianOfSorted(sorted);
}

}  // namespace lockstep
