// What usually does that.
//
// What it is: a sentence for what bisect has found, from a table. What it is
// not: evidence: it says where to look first.
#ifndef LOCKSTEP_TOOLS_BISECT_LIKELY_CAUSE_H_
#define LOCKSTEP_TOOLS_BISECT_LIKELY_CAUSE_H_

#include <string>

namespace lockstep {

struct BisectResult;

// "" for equal runs.
std::string LikelyCause(const BisectResult& result);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_LIKELY_CAUSE_H_
