// What usually does that.
//
// What it is: a table: what is seen, what usually causes it, how to tell, what
// to do; and of it the rows that a result fits, the most telling first. The
// table is in cause_table_*.cc, what a row looks at in symptoms.h. What it is
// not: evidence: it says where to look first.
#ifndef LOCKSTEP_TOOLS_BISECT_LIKELY_CAUSE_H_
#define LOCKSTEP_TOOLS_BISECT_LIKELY_CAUSE_H_

#include <span>
#include <string>
#include <vector>

namespace lockstep {

struct BisectResult;

struct CauseRow {
  bool (*fits)(const BisectResult& result);
  const char* symptom;
  const char* cause;
  const char* check;   // how to tell
  const char* remedy;  // what to do if it is that
};

// Immutable, the most telling first: of both halves of the table.
std::span<const CauseRow> CausesOfRuns();
std::span<const CauseRow> CausesOfOperations();
std::vector<CauseRow> AllCauses();

// Empty for equal runs, and else never.
std::vector<CauseRow> LikelyCauses(const BisectResult& result);

// The first of them, in a line, with the keys that differ where they are it.
std::string LikelyCause(const BisectResult& result);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_LIKELY_CAUSE_H_
