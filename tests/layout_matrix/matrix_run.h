// A row of the layout matrix as a run: the command's own files, ranks as
// threads of this process or as processes under mpirun.
//
// What it is: one training, and what it wrote. What it is not: a comparison.
// Why so: every row goes the whole way that a user's run goes, folder, ledger
// and metrics.jsonl included, whatever its transport.
#ifndef LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_RUN_H_
#define LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_RUN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/layout_matrix/matrix_space.h"

namespace lockstep {

struct MatrixResult {
  std::vector<std::string> lines = {};  // of metrics.jsonl, without times
  std::string evaluation = {};          // eval.jsonl
  std::string unseed = {};
};

class MatrixRunner {
 public:
  // `loss_scale`: the first one of fp16.
  MatrixRunner(const DesignSpace& space, int64_t steps, int64_t loss_scale);

  // A failure of the test, with the command's message, if the row does not
  // train to its end.
  MatrixResult Run(const DesignRow& row);
  // Run() of its reference; each is run once.
  const MatrixResult& Reference(const DesignRow& row);
  // Both, expected to be equal. Says in one line what the row gave.
  std::string Compare(const DesignRow& row);

 private:
  const DesignSpace space_;
  const int64_t steps_, loss_scale_;
  std::map<std::string, std::string> recipes_;  // by number of sources
  std::map<DesignRow, MatrixResult> references_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_RUN_H_
