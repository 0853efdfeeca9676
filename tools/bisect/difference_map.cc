#include "tools/bisect/difference_map.h"

#include <algorithm>
#include <bit>

#include "determinism/check.h"

namespace lockstep {
namespace {

int8_t LevelOf(int64_t ulps) {
  if (ulps < 0) return 64;
  return static_cast<int8_t>(
      ulps == 0 ? 0 : std::bit_width(static_cast<uint64_t>(ulps)) - 1);
}

}  // namespace

DifferenceMap MapDifference(const KeptTensor& a, const KeptTensor& b) {
  LS_CHECK(a.dtype == b.dtype && a.shape == b.shape) << a.name;
  DifferenceMap map;
  const auto count = static_cast<int64_t>(a.bytes.size() / SizeOf(a.dtype));
  map.columns = a.shape.empty() ? 1 : std::max<int64_t>(a.shape.back(), 1);
  map.rows = std::max<int64_t>(count / map.columns, 1);
  map.cell_rows = std::min(map.rows, DifferenceMap::kMost);
  map.cell_columns = std::min(map.columns, DifferenceMap::kMost);
  map.cells.assign(static_cast<size_t>(map.cell_rows * map.cell_columns), -1);
  std::vector<bool> row_has(static_cast<size_t>(map.rows)),
      column_has(static_cast<size_t>(map.columns));
  bool any = false;
  ForEachDifference(a, b, [&](int64_t element, int64_t ulps) {
    const int64_t row = element / map.columns, column = element % map.columns;
    if (!any) map.first_row = row, map.first_column = column;
    any = true;
    row_has[static_cast<size_t>(row)] = true;
    column_has[static_cast<size_t>(column)] = true;
    int8_t& cell = map.cells[static_cast<size_t>(
        row * map.cell_rows / map.rows * map.cell_columns +
        column * map.cell_columns / map.columns)];
    cell = std::max(cell, LevelOf(ulps));
  });
  map.rows_differ = std::count(row_has.begin(), row_has.end(), true);
  map.columns_differ = std::count(column_has.begin(), column_has.end(), true);
  return map;
}

}  // namespace lockstep
