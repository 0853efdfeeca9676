// Where the rows that a rank owns lie in the unsharded tensor.
//
// What it is: a parameter's owned elements as runs that are contiguous in both,
// and as boxes for the registry of state. What it is not: a decision who owns
// what (split.h, state_sharding.h). Why so: initial values, checkpoints and
// fingerprints all count in the unsharded tensor (N9, N11), and must agree.
#ifndef LOCKSTEP_MODEL_PARAMETER_BOXES_H_
#define LOCKSTEP_MODEL_PARAMETER_BOXES_H_

#include <cstdint>
#include <vector>

#include "model/parameters.h"
#include "parallel/state_sharding.h"

namespace lockstep {

// The parameters of a placement with their rows, in list order; without memory.
std::vector<Parameter> PlaceParameters(const std::vector<ParameterSpec>& specs,
                                       const StorePlacement& placement);

// Who of `ranks` owns which rows of the parameters' held shapes.
StateSharding ShardingOf(const std::vector<Parameter>& parameters, int ranks);

struct ParameterRun {
  int64_t owned;    // first element among the owned ones
  int64_t logical;  // the same in the unsharded tensor
  int64_t count;
};
std::vector<ParameterRun> RunsOf(const Parameter& parameter,
                                 const TensorShare& share);

struct ParameterBox {
  std::vector<int64_t> start;  // in the unsharded tensor
  std::vector<int64_t> shape;
  int64_t owned;  // first element among the owned ones
};
// Disjoint, ascending; the elements of a box lie back to back.
std::vector<ParameterBox> BoxesOf(const Parameter& parameter,
                                  const TensorShare& share);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_PARAMETER_BOXES_H_
