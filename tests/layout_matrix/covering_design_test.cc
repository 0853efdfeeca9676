// The design covers what it says: counted again without its help.
#include "tests/layout_matrix/covering_design.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

// Three factors; a3 goes with b1 alone, and c2 neither with a1 nor with b2.
DesignSpace SmallSpace(bool rules) {
  DesignSpace space;
  space.factors = {{"a", {"1", "2", "3"}},
                   {"b", {"1", "2"}},
                   {"c", {"1", "2"}},
                   {"d", {"1", "2", "3", "4"}}};
  if (rules) space.ruled = {0, 1, 2};
  space.may_be = [rules](const DesignRow& row) {
    return !rules || !((row[0] == 2 && row[1] == 1) ||
                       (row[2] == 1 && (row[0] == 0 || row[1] == 1)));
  };
  return space;
}

TEST(CoveringDesignTest, CoversWhatAnyValidRowHas) {
  for (const bool rules : {false, true}) {
    const DesignSpace space = SmallSpace(rules);
    std::set<LevelPair> possible, covered;
    for (const DesignRow& row : AllRows(space)) {
      if (space.may_be(row)) possible.merge(PairsOf(row));
    }
    EXPECT_EQ(possible.size(), rules ? 41u : 44u);
    EXPECT_EQ(ValidPairs(space), possible);
    for (const DesignRow& row : CoveringDesign(space)) {
      EXPECT_TRUE(space.may_be(row)) << ToString(space, row);
      covered.merge(PairsOf(row));
    }
    EXPECT_EQ(covered, possible);
  }
}

// Canaries: no rows cover nothing, and rows without one pair lack it.
TEST(CoveringDesignTest, WhatIsMissingIsTold) {
  const DesignSpace space = SmallSpace(true);
  EXPECT_EQ(Uncovered(space, {}), ValidPairs(space));
  for (const LevelPair& pair : ValidPairs(space)) {
    std::vector<DesignRow> rows = CoveringDesign(space);
    const size_t all = rows.size();
    std::erase_if(rows, [&](const DesignRow& row) {
      return PairsOf(row).count(pair) != 0;
    });
    EXPECT_LT(rows.size(), all) << ToString(space, pair);
    EXPECT_EQ(Uncovered(space, rows).count(pair), 1u) << ToString(space, pair);
  }
  EXPECT_TRUE(Uncovered(space, CoveringDesign(space)).empty());
}

}  // namespace
}  // namespace lockstep
