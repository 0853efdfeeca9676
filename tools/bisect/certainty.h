// How sure a result is, said in sentences.
//
// What it is: what was done to show it, and what was not. What it is not: a
// number: nobody knows the probability of a fault. Why so: a verdict is worth
// what stands behind it, and whoever reads it must see that without reading
// code.
#ifndef LOCKSTEP_TOOLS_BISECT_CERTAINTY_H_
#define LOCKSTEP_TOOLS_BISECT_CERTAINTY_H_

#include <string>
#include <vector>

namespace lockstep {

struct BisectResult;

std::vector<std::string> CertaintyOf(const BisectResult& result);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_CERTAINTY_H_
