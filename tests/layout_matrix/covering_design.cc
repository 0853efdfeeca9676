#include "tests/layout_matrix/covering_design.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "determinism/check.h"

namespace lockstep {
namespace {

// Rows that are tried for each one that is taken.
constexpr size_t kCandidates = 40;

int LevelsOf(const DesignSpace& space, size_t factor) {
  return static_cast<int>(space.factors[factor].levels.size());
}

DesignRow OpenRow(const DesignSpace& space) {
  return DesignRow(space.factors.size(), kOpenLevel);
}

// Which pairs are still to be covered, by the levels' numbers: asked for a
// hundred thousand times.
class OpenPairs {
 public:
  OpenPairs(const DesignSpace& space, const std::set<LevelPair>& pairs)
      : pairs_(pairs) {
    for (const Factor& factor : space.factors) {
      first_.push_back(levels_);
      levels_ += factor.levels.size();
    }
    open_.assign(levels_ * levels_, 0);
    for (const LevelPair& pair : pairs_) Set(pair, 1);
  }

  bool empty() const { return pairs_.empty(); }
  const LevelPair& At(size_t n) const {
    return *std::next(pairs_.begin(), static_cast<ptrdiff_t>(n % size()));
  }
  size_t size() const { return pairs_.size(); }

  // How many pairs `level` of `factor` would cover with the chosen ones.
  int Gain(const DesignRow& row, size_t factor, int level) const {
    const size_t base = Number(factor, level) * levels_;
    int gain = 0;
    for (size_t f = 0; f < row.size(); ++f) {
      if (row[f] != kOpenLevel && f != factor) {
        gain += open_[base + Number(f, row[f])];
      }
    }
    return gain;
  }
  void Erase(const DesignRow& row) {
    for (const LevelPair& pair : PairsOf(row)) {
      if (pairs_.erase(pair) != 0) Set(pair, 0);
    }
  }

 private:
  size_t Number(size_t factor, int64_t level) const {
    return first_[factor] + static_cast<size_t>(level);
  }
  void Set(const LevelPair& pair, char value) {
    const size_t a = Number(pair.first.first, pair.first.second);
    const size_t b = Number(pair.second.first, pair.second.second);
    open_[a * levels_ + b] = open_[b * levels_ + a] = value;
  }

  std::set<LevelPair> pairs_;
  std::vector<size_t> first_;
  size_t levels_ = 0;
  std::vector<char> open_;
};

// The level that covers most; of equals, the first from `turn` on.
int BestLevel(const DesignSpace& space, const OpenPairs& open,
              const DesignRow& row, size_t factor, size_t turn) {
  const int levels = LevelsOf(space, factor);
  int best = kOpenLevel, most = -1;
  for (int n = 0; n < levels; ++n) {
    const int level = static_cast<int>((static_cast<size_t>(n) + turn) %
                                       static_cast<size_t>(levels));
    const int gain = open.Gain(row, factor, level);
    if (gain <= most) continue;
    DesignRow next = row;
    next[factor] = level;
    if (!Completes(space, next)) continue;
    best = level;
    most = gain;
  }
  LS_CHECK(best != kOpenLevel) << "a row that completes has no next level";
  return best;
}

// A whole row around an open pair; `turn` chooses the pair and the order in
// which factors get their levels.
DesignRow Candidate(const DesignSpace& space, const OpenPairs& open,
                    size_t turn) {
  DesignRow row = OpenRow(space);
  const auto& [a, b] = open.At(turn * open.size() / kCandidates);
  row[a.first] = static_cast<int>(a.second);
  row[b.first] = static_cast<int>(b.second);
  const size_t factors = row.size();
  // Any step that shares no divisor with the number visits all factors.
  size_t step = 1 + turn % factors;
  while (std::gcd(step, factors) != 1) ++step;
  for (size_t n = 0; n < factors; ++n) {
    const size_t factor = (turn + n * step) % factors;
    if (row[factor] == kOpenLevel) {
      row[factor] = BestLevel(space, open, row, factor, turn);
    }
  }
  return row;
}

int GainOf(const OpenPairs& open, const DesignRow& row) {
  int twice = 0;
  for (size_t f = 0; f < row.size(); ++f) twice += open.Gain(row, f, row[f]);
  return twice / 2;
}

}  // namespace

std::vector<DesignRow> CoveringDesign(const DesignSpace& space) {
  OpenPairs open(space, ValidPairs(space));
  std::vector<DesignRow> rows;
  while (!open.empty()) {
    DesignRow best;
    int most = 0;
    for (size_t turn = 0; turn < kCandidates; ++turn) {
      DesignRow row = Candidate(space, open, turn);
      const int gain = GainOf(open, row);
      if (gain <= most) continue;
      most = gain;
      best = std::move(row);
    }
    LS_CHECK(most > 0) << "a candidate is made around an open pair";
    open.Erase(best);
    rows.push_back(std::move(best));
  }
  return rows;
}

}  // namespace lockstep
