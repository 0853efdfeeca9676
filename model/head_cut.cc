#include "model/head_cut.h"

#include <algorithm>

namespace lockstep {

HeadCut CutHead(int64_t leaf_rows, int64_t columns, int64_t element_bytes,
                const HeadRoom& room) {
  constexpr int64_t kColumns = 128;  // a chunk is of so many, or a multiple
  constexpr int64_t kLogitBytes = 4;
  HeadCut cut = {.block_rows = std::min(leaf_rows, room.block_rows),
                 .chunk_columns = columns};
  const int64_t column_bytes = leaf_rows * element_bytes;
  cut.recomputes =
      columns > kColumns && column_bytes > room.gradient_bytes / columns;
  if (!cut.recomputes) return cut;
  const int64_t fit =
      room.gradient_bytes / (column_bytes + leaf_rows * kLogitBytes);
  cut.chunk_columns = std::max(kColumns, fit / kColumns * kColumns);
  return cut;
}

}  // namespace lockstep
