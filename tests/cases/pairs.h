// Rows that cover all pairs of levels of several factors.
//
// What it is: a greedy covering array of strength two, a function of the
// factors alone. What it is not: the smallest one. Why so: most faults of
// combination take two things (Kuhn, Wallace, Gallo, "Software fault
// interactions and implications for software testing", IEEE TSE 30, 2004), and
// the full product takes too long for every day.
#ifndef LOCKSTEP_TESTS_CASES_PAIRS_H_
#define LOCKSTEP_TESTS_CASES_PAIRS_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace lockstep {

// A level of a factor.
using FactorLevel = std::pair<size_t, int64_t>;
using LevelPair = std::pair<FactorLevel, FactorLevel>;  // factors ascend

inline std::set<LevelPair> AllPairs(const std::vector<int64_t>& levels) {
  std::set<LevelPair> pairs;
  for (size_t a = 0; a < levels.size(); ++a) {
    for (size_t b = a + 1; b < levels.size(); ++b) {
      for (int64_t i = 0; i < levels[a]; ++i) {
        for (int64_t j = 0; j < levels[b]; ++j) {
          pairs.insert({{a, i}, {b, j}});
        }
      }
    }
  }
  return pairs;
}

// levels[f]: how many levels factor f has. Each row has a level a factor.
inline std::vector<std::vector<int64_t>> CoveringRows(
    const std::vector<int64_t>& levels) {
  std::set<LevelPair> open = AllPairs(levels);
  std::vector<std::vector<int64_t>> rows;
  const auto pair = [](size_t a, int64_t i, size_t b, int64_t j) {
    return a < b ? LevelPair{{a, i}, {b, j}} : LevelPair{{b, j}, {a, i}};
  };
  while (!open.empty()) {
    std::vector<int64_t> row(levels.size(), -1);
    const auto [first, second] = *open.begin();
    row[first.first] = first.second;
    row[second.first] = second.second;
    for (size_t f = 0; f < levels.size(); ++f) {
      if (row[f] >= 0) continue;
      int64_t best = -1;
      for (int64_t level = 0; level < levels[f]; ++level) {
        int64_t gain = 0;
        for (size_t g = 0; g < levels.size(); ++g) {
          if (row[g] >= 0) gain += open.count(pair(f, level, g, row[g]));
        }
        if (gain <= best) continue;
        best = gain;
        row[f] = level;
      }
    }
    for (size_t a = 0; a < levels.size(); ++a) {
      for (size_t b = a + 1; b < levels.size(); ++b) {
        open.erase(pair(a, row[a], b, row[b]));
      }
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_CASES_PAIRS_H_
