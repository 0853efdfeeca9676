// Which layers make up a pipeline stage: cuts of a list into contiguous parts.
//
// What it is: cuts that make the dearest stage as cheap as possible, or cuts
// that somebody wrote, checked. What it is not: a cost model; costs are
// whatever integers the caller counts (FLOPs), since floats would let a
// compiler move a cut. Why so: a cut moves parameters between ranks, so it must
// be a function of the recipe alone.

#ifndef PARALLEL_STAGE_BALANCE_H_
#define PARALLEL_STAGE_BALANCE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

// Items [begin, end).
struct StageRange {
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const StageRange&, const StageRange&) = default;
};

// Cuts `costs` (each >= 0, their sum below 2^63) into `stages` ranges, none
// empty, whose largest sum is the smallest possible. Of equally good cuts the
// one whose first cut comes first, then its second, and so on. InputError when
// there are fewer items than stages.
absl::StatusOr<std::vector<StageRange>> BalanceStages(
    std::span<const int64_t> costs, int stages);

// Ranges from explicit cuts: cuts[i] is where stage i + 1 begins. InputError
// unless they ascend within (0, items).
absl::StatusOr<std::vector<StageRange>> StagesFromCuts(
    int64_t items, std::span<const int64_t> cuts);

// The largest sum of costs over a range.
int64_t DearestStage(std::span<const int64_t> costs,
                     std::span<const StageRange> stages);

}  // namespace lockstep

#endif  // PARALLEL_STAGE_BALANCE_H_
