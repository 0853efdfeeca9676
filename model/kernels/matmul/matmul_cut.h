// How one product is cut up to fit the caches.
//
// The loops, outermost first: columns of b that fit the second-level cache
// packed; rows of c whose sums fit beside them, where sums must wait (below);
// runs of k; tile rows of a, packed into the first-level cache; panels of b.
// Where c is F32 the sums wait in c between runs of k. Where c is narrower or
// added to, they wait in scratch, or the run is made as long as k.
//
// No cut shows in the bits: sums that wait are binary32, as in a register, and
// runs of k end at multiples of 32.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_CUT_H_
#define MODEL_KERNELS_MATMUL_MATMUL_CUT_H_

#include <algorithm>
#include <cstdint>

#include "determinism/dtype.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_tile.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

constexpr int64_t kDepth = 256;  // the usual run of k
constexpr int64_t kPackedFloats = 128 * 1024;
constexpr int64_t kTileFloats = kTileRows * kTileColumns;
constexpr int64_t kScratchColumns = 256;
constexpr int64_t kWaitingTiles = 64 * 1024 / kTileFloats;

// How one call is cut up.
struct Cut {
  bool sums_wait_in_c;
  int64_t depth;    // longest run of k
  int64_t columns;  // of b packed at once, a multiple of kTileColumns
  int64_t rows;     // of c between two packings of b
};

static inline int64_t RoundUp(int64_t x, int64_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

static inline Cut CutOf(const MatmulArgs& args, int64_t padded_k) {
  Cut cut;
  cut.sums_wait_in_c = args.c_dtype == DType::kF32 && !args.accumulate;
  const bool at_once =
      padded_k <= kDepth || (!cut.sums_wait_in_c && padded_k <= kMaxDepth);
  const bool sums_wait_in_scratch = !at_once && !cut.sums_wait_in_c;
  cut.depth = std::max<int64_t>(at_once ? padded_k : kDepth, kBlock);
  // Scratch is shared by rows and columns: b is packed again every cut.rows.
  const int64_t most_columns =
      sums_wait_in_scratch ? kScratchColumns : kPackedFloats / cut.depth;
  cut.columns = std::min(RoundUp(args.n, kTileColumns),
                         most_columns / kTileColumns * kTileColumns);
  cut.rows = sums_wait_in_scratch
                 ? kWaitingTiles / (cut.columns / kTileColumns) * kTileRows
                 : args.m;
  return cut;
}

// Rows of the next tile when `left` are left: the last two share evenly.
static inline int64_t NextTileRows(int64_t left) {
  if (left >= 2 * kTileRows) return kTileRows;
  if (left <= kTileRows) return left;
  return std::min<int64_t>(kTileRows, RoundUp((left + 1) / 2, 2));
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_CUT_H_
