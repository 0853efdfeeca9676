// What the rows of the cause table look at.
#ifndef LOCKSTEP_TOOLS_BISECT_SYMPTOMS_H_
#define LOCKSTEP_TOOLS_BISECT_SYMPTOMS_H_

#include <string_view>

#include "tools/bisect/bisect.h"

namespace lockstep::symptoms {

inline bool Is(const BisectResult& r, std::string_view verdict) {
  return r.verdict == verdict;
}
// A field of the step's line differs.
bool HasField(const BisectResult& r, std::string_view field);
// A key differs; with `explains`: and must change the bits. "hardware." also
// stands for hardware.isa.
bool HasKey(const BisectResult& r, std::string_view key, bool explains);
// Anything that the programs are made of: commit, binary, compiler, libraries.
bool OtherProgram(const BisectResult& r);
// Of a state that was loaded: the entry begins so.
bool Entry(const BisectResult& r, std::string_view start);

bool AnOperation(const BisectResult& r);  // that comes back
bool OneTime(const BisectResult& r);      // that does not
bool OneHighBit(const BisectResult& r);   // one element, far off
bool WholeRows(const BisectResult& r);    // few rows, and all of these
// Many elements, most of them by a few units in the last place; the rest are
// what sums that cancel make of it.
bool FewUlps(const BisectResult& r);
bool SomeRanks(const BisectResult& r);  // of several, not all
bool InPhase(const BisectResult& r, std::string_view phase);

}  // namespace lockstep::symptoms

#endif  // LOCKSTEP_TOOLS_BISECT_SYMPTOMS_H_
