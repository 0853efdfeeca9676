// A trace made by hand, for tests: x -> first -> second -> third, of two
// micro-batches; a value an output.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_CHAIN_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/trace_diff/trace_diff.h"

namespace lockstep {

using Operations = std::vector<TracedOperation>;

inline RankParting Part(int rank, const Operations& a, const Operations& b) {
  return PartingOf(rank, OperationList(a), OperationList(b));
}

inline TraceDifference Compare(const RanksOperations& a,
                               const RanksOperations& b) {
  TracePair pair;
  for (const auto& [rank, all] : a) pair.a[rank] = OperationList(all);
  for (const auto& [rank, all] : b) pair.b[rank] = OperationList(all);
  return ComparePair(pair);
}

inline TracedTensor Tensor(const std::string& name, uint64_t value) {
  return {.name = name,
          .dtype = "F32",
          .shape = {8, 4},
          .global_shape = {},
          .held = {},
          .value = {{value, value * 7}}};
}

inline Operations Chain() {
  Operations all;
  uint64_t value = 1;
  for (const uint64_t sample : {10, 11}) {
    for (const char* name : {"first", "second", "third"}) {
      all.push_back({.identity = {.step = 3,
                                  .phase = "forward",
                                  .scope = "layers.0",
                                  .operation = name,
                                  .first_sample = sample},
                     .micro_batch = static_cast<int64_t>(sample) - 10,
                     .inputs = {Tensor("x", value), Tensor("weight", 1000)},
                     .outputs = {Tensor("y", value + 1)}});
      ++value;
    }
    ++value;
  }
  return all;
}

// From operation `place` on all values are others, as after a real difference.
inline void Spoil(Operations& all, size_t place, bool inputs_too) {
  for (size_t i = place; i < all.size(); ++i) {
    if (i > place || inputs_too) all[i].inputs[0].value.lane[0] += 50;
    all[i].outputs[0].value.lane[0] += 50;
  }
}

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_CHAIN_H_
