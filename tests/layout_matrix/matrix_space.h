// What the layout matrix varies, and what a row of it runs.
//
// What it is: the factors with their levels, the rules of which go together,
// and a row as settings of a recipe. What it is not: the command's own rules
// (tools/layout_check.h); a test holds these to those. Why so: most factors are
// keys of the recipe and their levels its values, so that what a row says is
// what a person would type.
#ifndef LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_SPACE_H_
#define LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_SPACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/mesh.h"
#include "tests/layout_matrix/covering_design.h"

namespace lockstep {

// What decides which levels there are.
struct MatrixMachine {
  bool overlap = true;  // the recipe has parallel.overlap and bucket_bytes
  bool mpi = true;      // the build has MPI, and mpirun is there
  std::vector<std::string> isas = {"scalar", "avx2", "avx512"};  // ascending
};
MatrixMachine ThisMachine();

inline constexpr int kMostMatrixRanks = 8;

DesignSpace MatrixSpace(const MatrixMachine& machine);

// The degrees of a row's layout.
MeshShape ShapeOf(const DesignSpace& space, const DesignRow& row);
// The level of the factor of this name; "" if there is no such factor.
std::string LevelOf(const DesignSpace& space, const DesignRow& row,
                    const std::string& factor);
// "section.key=value" of all that a recipe has of the row.
std::vector<std::string> SetsOf(const DesignSpace& space, const DesignRow& row);

// The row whose metrics.jsonl must be this one's: of one rank in
// `layout_invariant`; in `bitwise` of the same layout as threads, at the
// machine's best level and with nothing recomputed or overlapped.
DesignRow ReferenceOf(const DesignSpace& space, const DesignRow& row);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_SPACE_H_
