// One recipe trained on any layout, ranks as threads of this process.
//
// What it is: steppers of all ranks over small token files, stepped together,
// and what a run's metrics.jsonl and unseed would say. What it is not: a run's
// folder: nothing is written but the data. Why so: many layouts must be
// compared in seconds, and by the lines that people compare.
#ifndef LOCKSTEP_TESTS_LAYOUT_MATRIX_LAYOUT_RUN_H_
#define LOCKSTEP_TESTS_LAYOUT_MATRIX_LAYOUT_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parallel/mesh.h"

namespace lockstep {

class Stepper;

struct LayoutCase {
  MeshShape shape = {};
  int interleave = 1;
  int64_t micro = 2;
  std::vector<std::string> sets = {};
  int64_t steps = 4;
  int threads = 1;      // a rank
  bool spoilt = false;  // by its library: spoiling_comm.h
};

struct LayoutResult {
  std::vector<std::string> lines = {};  // of metrics.jsonl, without times
  std::string evaluation = {};          // of eval.jsonl
  std::string unseed = {};
  friend bool operator==(const LayoutResult&, const LayoutResult&) = default;
};

// Two sources of documents of unequal lengths as a recipe of its own: a blend,
// with resets at documents, so that replicas have unequal numbers of labels.
std::string BlendRecipe();

// Looks at a rank, one rank at a time: when its steps are done, or before.
using RankVisitor = std::function<void(int rank, Stepper& stepper)>;

// Ends the test when the run fails, and when ranks disagree on a report.
LayoutResult RunLayout(const std::string& recipe, const LayoutCase& layout,
                       const RankVisitor& visit = {},
                       const RankVisitor& prepare = {});

// "data 2 x pipeline 1 x tensor 4, interleave 1, micro 2".
std::string ToString(const LayoutCase& layout);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_LAYOUT_MATRIX_LAYOUT_RUN_H_
