// A communicator that counts what a rank says, by the axis it says it on.
//
// What it is: a wrapper for tests; its first three splits are the axes of a
// layout in the order in which MakeLayout (model_layout.h) asks for them, and
// what is split from those counts with them. What it is not: a clock. Why so:
// a formula for messages and bytes is worth what a count of real ones says.
#ifndef LOCKSTEP_TESTS_PLAN_COUNTING_COMM_H_
#define LOCKSTEP_TESTS_PLAN_COUNTING_COMM_H_

#include <array>
#include <memory>

#include "model/tensor_traffic.h"
#include "parallel/communicator.h"

namespace lockstep {

struct SaidByAxis {
  AxisTraffic data = {};
  AxisTraffic pipeline = {};
  AxisTraffic tensor = {};
};

// `world` and `said` are borrowed and outlive it.
std::unique_ptr<Communicator> CountWorld(Communicator* world, SaidByAxis* said);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_PLAN_COUNTING_COMM_H_
