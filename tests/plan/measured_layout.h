// What the ranks of a real run took: memory by their devices' own account,
// calls and bytes by a count.
//
// What it is: two steps of a recipe on ranks that are threads of this process.
// What it is not: a folder, or time. Why so: formulas of costs are held to
// this.
#ifndef LOCKSTEP_TESTS_PLAN_MEASURED_LAYOUT_H_
#define LOCKSTEP_TESTS_PLAN_MEASURED_LAYOUT_H_

#include <string>
#include <vector>

#include "parallel/mesh.h"
#include "tests/plan/counting_comm.h"
#include "tools/run_config.h"

namespace lockstep {

struct MeasuredRank {
  MeshCoordinate at = {};
  double lasting_bytes = 0;  // before the first step
  double peak_bytes = 0;
  SaidByAxis said = {};  // in the second step
};

struct MeasuredLayout {
  RunConfig config;
  std::vector<MeasuredRank> ranks = {};  // in the order of the world
};

// Ends the test when the run fails. The second step is one pass.
MeasuredLayout MeasureLayout(const std::string& recipe,
                             const std::vector<std::string>& sets);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_PLAN_MEASURED_LAYOUT_H_
