// Which pairs there are, and which of them rows have.
#include "absl/strings/str_cat.h"
#include "determinism/check.h"
#include "tests/layout_matrix/covering_design.h"

namespace lockstep {
namespace {

int LevelsOf(const DesignSpace& space, size_t factor) {
  return static_cast<int>(space.factors[factor].levels.size());
}

DesignRow OpenRow(const DesignSpace& space) {
  return DesignRow(space.factors.size(), kOpenLevel);
}

}  // namespace

bool Completes(const DesignSpace& space, DesignRow row) {
  if (!space.may_be(row)) return false;
  for (const size_t factor : space.ruled) {
    if (row[factor] != kOpenLevel) continue;
    for (row[factor] = 0; row[factor] < LevelsOf(space, factor);
         ++row[factor]) {
      if (Completes(space, row)) return true;
    }
    return false;
  }
  return true;
}

std::vector<DesignRow> AllRows(const DesignSpace& space) {
  std::vector<DesignRow> rows = {{}};
  for (const Factor& factor : space.factors) {
    std::vector<DesignRow> longer;
    for (const DesignRow& row : rows) {
      for (int level = 0; level < static_cast<int>(factor.levels.size());
           ++level) {
        longer.push_back(row);
        longer.back().push_back(level);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

std::set<LevelPair> ValidPairs(const DesignSpace& space) {
  std::vector<int64_t> levels;
  for (const Factor& factor : space.factors) {
    levels.push_back(static_cast<int64_t>(factor.levels.size()));
  }
  std::set<LevelPair> pairs = AllPairs(levels);
  std::erase_if(pairs, [&](const LevelPair& pair) {
    DesignRow row = OpenRow(space);
    row[pair.first.first] = static_cast<int>(pair.first.second);
    row[pair.second.first] = static_cast<int>(pair.second.second);
    return !Completes(space, row);
  });
  return pairs;
}

std::set<LevelPair> PairsOf(const DesignRow& row) {
  std::set<LevelPair> pairs;
  for (size_t a = 0; a < row.size(); ++a) {
    for (size_t b = a + 1; b < row.size(); ++b) {
      pairs.insert({{a, row[a]}, {b, row[b]}});
    }
  }
  return pairs;
}

std::set<LevelPair> Uncovered(const DesignSpace& space,
                              const std::vector<DesignRow>& rows) {
  std::set<LevelPair> open = ValidPairs(space);
  for (const DesignRow& row : rows) {
    LS_CHECK(space.may_be(row)) << ToString(space, row);
    for (const LevelPair& pair : PairsOf(row)) open.erase(pair);
  }
  return open;
}

std::string ToString(const DesignSpace& space, const DesignRow& row) {
  std::string text;
  for (size_t f = 0; f < row.size(); ++f) {
    const Factor& factor = space.factors[f];
    absl::StrAppend(&text, text.empty() ? "" : ", ", factor.name, " ",
                    row[f] == kOpenLevel
                        ? "?"
                        : factor.levels[static_cast<size_t>(row[f])]);
  }
  return text;
}

std::string ToString(const DesignSpace& space, const LevelPair& pair) {
  const auto level = [&](const FactorLevel& at) {
    const Factor& factor = space.factors[at.first];
    return absl::StrCat(factor.name, " ",
                        factor.levels[static_cast<size_t>(at.second)]);
  };
  return absl::StrCat(level(pair.first), " with ", level(pair.second));
}

}  // namespace lockstep
