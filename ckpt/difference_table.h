// The one table behind manifest comparison: which difference is harmless,
// refused or never accepted, on which rung. Inside ckpt only; FORMAT.md shows
// it, and a test holds the two together.

#ifndef CKPT_DIFFERENCE_TABLE_H_
#define CKPT_DIFFERENCE_TABLE_H_

#include <array>
#include <span>
#include <string_view>

#include "ckpt/manifest_compare.h"

namespace lockstep {

struct DifferenceRow {
  // What --allow takes, or how it begins if it ends in '*'. A row in
  // parentheses stands for a class of recipe keys that has no common name.
  std::string_view key;
  std::array<Verdict, 4> by_rung;  // of a resume, by Guarantee
  Verdict fork;                    // of a fork, whatever the rung
  std::string_view why;
};

inline constexpr std::string_view kOtherTrajectoryKeys = "(trajectory keys)";
inline constexpr std::string_view kOtherKeys = "(other recipe keys)";
inline constexpr std::string_view kPatternCuts = "(model.pattern: cuts only)";
inline constexpr std::string_view kSameFileElsewhere = "(data: path only)";
inline constexpr std::string_view kExplainedBinary = "(binary: explained)";
inline constexpr std::string_view kUnevenShares =
    "(layout.micro_batch: uneven)";
inline constexpr std::string_view kExplainedCurve = "(schedule: explained)";

std::span<const DifferenceRow> DifferenceRows();

// The row of exactly this key, else the first whose prefix fits, else null.
const DifferenceRow* FindDifferenceRow(std::string_view key);
// The key itself if it has a row, else `other`.
std::string_view OwnRowOr(std::string_view key, std::string_view other);

}  // namespace lockstep

#endif  // CKPT_DIFFERENCE_TABLE_H_
