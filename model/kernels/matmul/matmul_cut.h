// How one product is cut up to fit the caches.
//
// The loops, outermost first: columns of b that fit the second-level cache
// packed; rows of c whose sums fit beside them, where sums must wait (below);
// slices; runs of k; tile rows of a, packed into the first-level cache; panels
// of b. Where c is F32 and there is one slice, the sums wait in c between runs
// of k. Elsewhere they wait in scratch, or the run is made as long as the
// slice. The partial sums of a tree of slices wait in scratch as well.
//
// No cut shows in the bits: sums that wait are binary32, as in a register, and
// runs of k end at multiples of 32.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_CUT_H_
#define MODEL_KERNELS_MATMUL_MATMUL_CUT_H_

#include <algorithm>
#include <cstdint>

#include "determinism/dtype.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_runs.h"
#include "model/kernels/matmul/matmul_tile.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

constexpr int64_t kDepth = 256;  // the usual run of k
constexpr int64_t kPackedElements = 128 * 1024;
constexpr int64_t kScratchColumns = 256;

template <class Tiling>
struct TileSizes {
  enum : int64_t {
    kFloats = Tiling::kRows * kTileColumns,
    // Tiles whose sums may wait at once: of 64 Ki floats for the slice being
    // summed and each of two levels of the tree.
    kWaiting = 3 * (64 * 1024 / kFloats),
  };
};

// How one call is cut up.
struct Cut {
  bool sums_wait_in_c;
  bool current_waits;  // the sums of the slice being summed wait in scratch
  int64_t waiting;     // scratch tiles of an output tile
  int64_t depth;       // longest run of k
  int64_t columns;     // of b packed at once, a multiple of kTileColumns
  int64_t rows;        // of c between two packings of b
};

// Partial sums of the tree that wait at once.
static inline int64_t TreeLevels(const MatmulArgs& args) {
  if (args.slice_use != SliceUse::kTree) return 0;
  int64_t levels = 0;
  while ((int64_t{1} << levels) < args.slice_count) ++levels;
  return levels;
}

template <class Tiling>
static inline Cut CutOf(const MatmulArgs& args, const Runs& runs) {
  Cut cut;
  const int64_t longest = runs.LongestSlice();
  cut.sums_wait_in_c = args.c_dtype == DType::kF32 && !args.accumulate &&
                       runs.slice_count() == 1;
  const bool at_once =
      (longest <= kDepth || (!cut.sums_wait_in_c && longest <= kMaxDepth)) &&
      runs.MostSegments() <= Run::kMostPieces;
  cut.current_waits = !at_once && !cut.sums_wait_in_c;
  cut.waiting = TreeLevels(args) + (cut.current_waits ? 1 : 0);
  cut.depth =
      std::max<int64_t>(at_once ? RoundUp(longest, kBlock) : kDepth, kBlock);
  // Scratch is shared by rows and columns: b is packed again every cut.rows.
  const int64_t most_columns =
      cut.current_waits ? kScratchColumns : kPackedElements / cut.depth;
  int64_t wide = std::min(RoundUp(args.n, kTileColumns) / kTileColumns,
                          most_columns / kTileColumns);
  cut.rows = args.m;
  if (cut.waiting > 0) {
    const int64_t tiles =
        TileSizes<Tiling>::kWaiting / (args.slice_count > 1 ? cut.waiting : 3);
    wide = std::min(wide, tiles);
    cut.rows = tiles / wide * Tiling::kRows;
  }
  cut.columns = wide * kTileColumns;
  return cut;
}

// Rows of the next tile when `left` are left: the last two share evenly.
template <class Tiling>
static inline int64_t NextTileRows(int64_t left) {
  constexpr int64_t kRows = Tiling::kRows;
  if (left >= 2 * kRows) return kRows;
  if (left <= kRows) return left;
  return std::min(kRows, Tiling::ComputedRows((left + 1) / 2));
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_CUT_H_
