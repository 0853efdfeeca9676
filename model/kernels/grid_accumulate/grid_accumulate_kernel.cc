// Ranges of entries, once per instruction set level; see grid_accumulate.h.

#include <algorithm>
#include <cstdint>

#include "model/kernels/grid_accumulate/grid_accumulate.h"
#include "model/kernels/grid_add.h"

namespace lockstep::LOCKSTEP_ISA_NS {

// Entries in blocks that stay in the first-level cache over all leaves.
void GridAccumulateRange(const GridAccumulateArgs& args, int64_t begin,
                         int64_t end) {
  constexpr int64_t kBlockEntries = 1024;
  const GridScale scale(args.exponent);
  GridTally tally;
  for (int64_t i = begin; i < end; i += kBlockEntries) {
    const int64_t count = std::min(kBlockEntries, end - i);
    int64_t* sum = args.sum == nullptr ? nullptr : args.sum + i;
    for (int64_t leaf = 0; leaf < args.leaves; ++leaf) {
      GridAddRow(args.leaf + leaf * args.leaf_stride + i, count, scale, sum,
                 tally);
      FoldTally(tally, *args.stats);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
