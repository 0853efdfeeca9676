// Rows that cover every pair of levels that can occur together.
//
// What it is: a greedy covering array of strength two over factors of which
// rules forbid some combinations; a function of the space alone. What it is
// not: the smallest one, or the judge of a rule: the space brings its rules.
// Why so: a plain covering array (tests/cases/pairs.h) would have rows that no
// run can be, and leaving those out would leave their other pairs untested.
#ifndef LOCKSTEP_TESTS_LAYOUT_MATRIX_COVERING_DESIGN_H_
#define LOCKSTEP_TESTS_LAYOUT_MATRIX_COVERING_DESIGN_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/cases/pairs.h"

namespace lockstep {

struct Factor {
  std::string name = {};
  std::vector<std::string> levels = {};
};

// A level a factor; kOpenLevel where none is chosen yet.
using DesignRow = std::vector<int>;
inline constexpr int kOpenLevel = -1;

struct DesignSpace {
  std::vector<Factor> factors = {};
  // False only if the levels chosen so far break a rule; what is open breaks
  // none.
  std::function<bool(const DesignRow&)> may_be = {};
  // The factors that rules are about.
  std::vector<size_t> ruled = {};
};

// Whether some whole row has the levels chosen in `row` and breaks no rule.
bool Completes(const DesignSpace& space, DesignRow row);

// All whole rows, whatever the rules: of small spaces.
std::vector<DesignRow> AllRows(const DesignSpace& space);

// All pairs that some whole row has.
std::set<LevelPair> ValidPairs(const DesignSpace& space);
std::set<LevelPair> PairsOf(const DesignRow& row);
// The valid pairs that no row has. A row that breaks a rule ends the test.
std::set<LevelPair> Uncovered(const DesignSpace& space,
                              const std::vector<DesignRow>& rows);

// Whole rows that cover all valid pairs, those first that cover most.
std::vector<DesignRow> CoveringDesign(const DesignSpace& space);

// "data x pipeline x tensor 2x1x4, micro 1, ...".
std::string ToString(const DesignSpace& space, const DesignRow& row);
std::string ToString(const DesignSpace& space, const LevelPair& pair);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_LAYOUT_MATRIX_COVERING_DESIGN_H_
