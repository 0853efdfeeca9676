// Two tensors of one kind, byte by byte.
//
// What it is: how many elements differ, which is the first, and by how many
// units in the last place. What it is not: a tolerance: what is close is for
// whoever reads it. Why so: one element with one high bit is a machine, a few
// ulps everywhere another order of a sum.
#ifndef LOCKSTEP_TOOLS_BISECT_ELEMENT_DIFFERENCE_H_
#define LOCKSTEP_TOOLS_BISECT_ELEMENT_DIFFERENCE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "determinism/dtype.h"

namespace lockstep {

// A tensor that was kept: contiguous.
struct KeptTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::string bytes;
};

struct ElementDifference {
  std::string tensor;
  int64_t count = 0;
  int64_t differ = 0;
  std::vector<int64_t> first = {};  // coordinate
  std::string a = {}, b = {};       // its bits, hex
  // Of float types: by the distance in units in the last place, powers of two
  // as lower ends; -1: one of them is no number.
  std::map<int64_t, int64_t> ulps = {};
};

// Calls `visit` with each element (row-major) that differs and its class of
// `ElementDifference::ulps`; 0 for types without one. LS_CHECK: equal dtype and
// shape.
void ForEachDifference(const KeptTensor& a, const KeptTensor& b,
                       const std::function<void(int64_t, int64_t)>& visit);

// LS_CHECK: equal dtype and shape.
ElementDifference CompareElements(const KeptTensor& a, const KeptTensor& b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_ELEMENT_DIFFERENCE_H_
