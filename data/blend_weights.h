// Weights of a blend as whole numbers over a common denominator.
//
// A weight is taken as the decimal that was written (the shortest one that
// reads back as its binary64), so 0.49, 0.49 and 0.02 are 49, 49 and 2
// hundredths and not what binary64 makes of them. Only ratios count: the
// denominator is the sum. Where it would pass 2^20 the weights are rounded to
// 2^20ths by largest remainder (ties to the lower source), and `rounded` says
// so; a weight below half of that may become zero.

#ifndef DATA_BLEND_WEIGHTS_H_
#define DATA_BLEND_WEIGHTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

inline constexpr uint64_t kMaxBlendPeriod = uint64_t{1} << 20;
inline constexpr size_t kMaxBlendSources = size_t{1} << 16;

struct BlendWeights {
  std::vector<uint64_t> parts;  // of `period`, one a source; they add up to it
  uint64_t period = 0;          // 1 .. kMaxBlendPeriod
  bool rounded = false;
};

// InputError for no weights or more than kMaxBlendSources, for one that is
// negative, infinite or NaN, and when all are zero.
absl::StatusOr<BlendWeights> MakeBlendWeights(std::span<const double> weights);

}  // namespace lockstep

#endif  // DATA_BLEND_WEIGHTS_H_
