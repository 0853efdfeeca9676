// Where in a tensor two runs differ, small enough to be looked at.
//
// What it is: the tensor as a matrix (its last dim across, all others down),
// cut into at most kMost x kMost cells, of each how many elements differ and
// the greatest distance among them. What it is not: the elements. Why so: a
// row, a column, a block or a single place are seen at once and mean different
// faults.
#ifndef LOCKSTEP_TOOLS_BISECT_DIFFERENCE_MAP_H_
#define LOCKSTEP_TOOLS_BISECT_DIFFERENCE_MAP_H_

#include <cstdint>
#include <vector>

#include "tools/bisect/element_difference.h"

namespace lockstep {

struct DifferenceMap {
  static constexpr int64_t kMost = 192;

  int64_t rows = 0, columns = 0;            // of the matrix
  int64_t cell_rows = 0, cell_columns = 0;  // cells
  // By cell, row-major: -1 equal; else log2 of the greatest distance in ulp, 64
  // where one of the two is no number. Of types without ulp: 0.
  std::vector<int8_t> cells = {};
  int64_t rows_differ = 0, columns_differ = 0;  // that have an element
  int64_t first_row = 0, first_column = 0;
};

// LS_CHECK: equal dtype and shape.
DifferenceMap MapDifference(const KeptTensor& a, const KeptTensor& b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_DIFFERENCE_MAP_H_
