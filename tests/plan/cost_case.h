// One layout of a small model, run and planned.
//
// What it is: the recipe of such a case, and the comparison of what each rank
// took and said with the formula of costs. What it is not: a list of cases.
#ifndef LOCKSTEP_TESTS_PLAN_COST_CASE_H_
#define LOCKSTEP_TESTS_PLAN_COST_CASE_H_

#include <string>
#include <vector>

#include "tests/plan/measured_layout.h"

namespace lockstep {

struct CostCase {
  int data = 1, pipeline = 1, tensor = 1, interleave = 1;
  std::vector<std::string> sets = {};
};

MeasuredLayout Measure(const CostCase& layout);

// Percent that `planned` is above `measured`.
double Above(double planned, double measured);

// Expects each rank's memory within `percent` of the formula, and its calls and
// bytes as counted; the greatest distance in memory, in percent.
double ExpectPlanned(const CostCase& layout, double percent = 5);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_PLAN_COST_CASE_H_
