// What the matrix's design covers, counted again without its help; its rules
// are the command's.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "determinism/file_system.h"
#include "tests/cases/small_run.h"
#include "tests/layout_matrix/matrix_space.h"
#include "tools/run_setup.h"

namespace lockstep {
namespace {

constexpr size_t kMostRuns = 250;

// What the matrix takes for impossible the command refuses, and nothing else.
TEST(MatrixSpaceTest, ItsRulesAreTheCommands) {
  const DesignSpace space = MatrixSpace(ThisMachine());
  DesignSpace ruled = space;
  ruled.factors.resize(space.ruled.size());
  const std::string recipe = SmallRecipe("rules", 60);
  int64_t refused = 0, taken = 0;
  for (DesignRow row : AllRows(ruled)) {
    row.resize(space.factors.size(), 0);
    const absl::Status run =
        ResolveRun(*PosixFileSystem(), recipe, SetsOf(space, row), "no_run")
            .status();
    const bool takes = run.ok();
    EXPECT_EQ(takes, space.may_be(row)) << ToString(space, row) << "\n" << run;
    (takes ? taken : refused) += 1;
  }
  EXPECT_EQ(refused + taken, 24 * 5 * 2 * 3 * 2);
  EXPECT_GT(refused, 300);
  EXPECT_GT(taken, 300);
}

// Degrees as factors of their own, levels by name: a count that shares nothing
// with the design's.
using NamedLevel = std::pair<std::string, std::string>;
using NamedPairs = std::set<std::pair<NamedLevel, NamedLevel>>;

NamedPairs NamedPairsOf(const DesignSpace& space, const DesignRow& row) {
  const MeshShape shape = ShapeOf(space, row);
  std::set<NamedLevel> levels = {{"data", std::to_string(shape.data)},
                                 {"pipeline", std::to_string(shape.pipeline)},
                                 {"tensor", std::to_string(shape.tensor)}};
  for (const Factor& factor : space.factors) {
    levels.emplace(factor.name, LevelOf(space, row, factor.name));
  }
  NamedPairs pairs;
  for (const NamedLevel& a : levels) {
    for (const NamedLevel& b : levels) {
      if (a.first < b.first) pairs.emplace(a, b);
    }
  }
  return pairs;
}

// Of every valid choice of the ruled factors with each level of each other one,
// and of these with each other.
NamedPairs PossiblePairs(const DesignSpace& space) {
  DesignSpace ruled = space;
  ruled.factors.resize(space.ruled.size());
  NamedPairs pairs;
  for (DesignRow row : AllRows(ruled)) {
    row.resize(space.factors.size(), 0);
    if (!space.may_be(row)) continue;
    for (size_t f = space.ruled.size(); f < row.size(); ++f) {
      for (size_t n = 0; n < space.factors[f].levels.size(); ++n) {
        DesignRow other = row;
        other[f] = static_cast<int>(n);
        pairs.merge(NamedPairsOf(space, other));
      }
    }
  }
  for (size_t f = space.ruled.size(); f < space.factors.size(); ++f) {
    for (size_t g = space.ruled.size(); g < space.factors.size(); ++g) {
      if (!(space.factors[f].name < space.factors[g].name)) continue;
      for (const std::string& a : space.factors[f].levels) {
        for (const std::string& b : space.factors[g].levels) {
          pairs.insert(
              {{space.factors[f].name, a}, {space.factors[g].name, b}});
        }
      }
    }
  }
  return pairs;
}

TEST(MatrixDesignTest, EveryValidPairIsInSomeRow) {
  for (const bool overlap : {false, true}) {
    const DesignSpace space = MatrixSpace({.overlap = overlap});
    const std::vector<DesignRow> rows = CoveringDesign(space);
    EXPECT_LE(rows.size(), kMostRuns);
    NamedPairs covered;
    for (const DesignRow& row : rows) {
      EXPECT_TRUE(space.may_be(row)) << ToString(space, row);
      covered.merge(NamedPairsOf(space, row));
    }
    const NamedPairs possible = PossiblePairs(space);
    EXPECT_GT(possible.size(), 1000u);
    for (const auto& [a, b] : possible) {
      EXPECT_EQ(covered.count({a, b}), 1u)
          << a.first << " " << a.second << " with " << b.first << " "
          << b.second;
    }
    EXPECT_EQ(covered.size(), possible.size());
    EXPECT_TRUE(Uncovered(space, rows).empty());
  }
}

// Canary: the matrix's own design without the rows of one pair.
TEST(MatrixDesignTest, APairThatIsLeftOutIsMissed) {
  const DesignSpace space = MatrixSpace({});
  std::vector<DesignRow> rows = CoveringDesign(space);
  const LevelPair pair = *PairsOf(rows.back()).rbegin();
  std::erase_if(rows, [&](const DesignRow& row) {
    return PairsOf(row).count(pair) != 0;
  });
  EXPECT_EQ(Uncovered(space, rows).count(pair), 1u);
}

TEST(MatrixSpaceTest, AReferenceIsItsOwnReference) {
  const DesignSpace space = MatrixSpace({});
  size_t same = 0;
  const std::vector<DesignRow> rows = CoveringDesign(space);
  for (const DesignRow& row : rows) {
    const DesignRow reference = ReferenceOf(space, row);
    EXPECT_TRUE(Completes(space, reference)) << ToString(space, reference);
    EXPECT_EQ(ReferenceOf(space, reference), reference);
    const bool one_rank = ShapeOf(space, reference).world() == 1;
    EXPECT_TRUE(one_rank || LevelOf(space, row, "guarantee") == "bitwise");
    same += reference == row ? 1 : 0;
  }
  EXPECT_LT(same, rows.size() / 4) << "runs that are compared with themselves";
}

}  // namespace
}  // namespace lockstep
