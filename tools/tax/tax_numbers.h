// A tax from pairs of times.
#ifndef LOCKSTEP_TOOLS_TAX_TAX_NUMBERS_H_
#define LOCKSTEP_TOOLS_TAX_TAX_NUMBERS_H_

#include <cstdint>
#include <span>

namespace lockstep {

struct TaxInterval {
  double tax = 0;  // median(t / t_fast) - 1
  // The median's 95 % interval by order statistics, whatever the distribution;
  // with fewer than six pairs there is none, and this is the range.
  double low = 0;
  double high = 0;
};

// The place, from 0, of the lower end in `n` ascending values; the upper end
// lies as far from the other side.
int64_t IntervalPlace(int64_t n);

// Pairs in order. A part that the fastest configuration does not have is
// measured by the step: (t - t_fast) / t_step.
TaxInterval TaxOf(std::span<const double> times, std::span<const double> fast);
TaxInterval TaxOfStep(std::span<const double> times,
                      std::span<const double> fast,
                      std::span<const double> fast_step);

double MedianOf(std::span<const double> values);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TAX_TAX_NUMBERS_H_
