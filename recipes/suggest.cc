#include "recipes/suggest.h"

#include <algorithm>

namespace lockstep {
namespace {

std::string Normal(std::string_view word) {
  std::string normal;
  for (const char c : word) {
    if (c >= 'A' && c <= 'Z') {
      normal += static_cast<char>(c - 'A' + 'a');
    } else {
      normal += c == '-' ? '_' : c;
    }
  }
  return normal;
}

// A third of the letters may be wrong, one in a short word.
bool IsNear(std::string_view word, std::string_view other) {
  const int64_t letters = static_cast<int64_t>(word.size());
  return EditDistance(word, other) <= std::max<int64_t>(1, letters / 3) &&
         std::min(word.size(), other.size()) > 1;
}

// learning_rate for lr.
bool AreInitials(std::string_view key, std::string_view word) {
  std::string initials;
  bool begins = true;
  for (const char c : Normal(key)) {
    if (begins) {
      initials += c;
    }
    begins = c == '_';
  }
  return initials.size() > 1 && initials == word;
}

std::string_view SectionOf(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::string_view KeyOf(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

// How good a guess `path` is; less is better, kFar is none.
constexpr int64_t kFar = 1000;

int64_t Rank(std::string_view section, std::string_view key,
             std::string_view path) {
  const bool at_home = SectionOf(path) == section;
  const std::string_view other = KeyOf(path);
  const int64_t distance = EditDistance(key, other);
  if (distance == 0) {
    return at_home ? 0 : 1;
  }
  if (AreInitials(key, other)) {
    return at_home ? 2 : 3;
  }
  if (IsNear(key, other)) {
    return (at_home ? 10 : 100) + distance;
  }
  return kFar;
}

std::string Readable(std::string_view path) {
  const size_t array = path.find("[].");
  if (array == std::string_view::npos) {
    return std::string(path);
  }
  return std::string(path.substr(array + 3)) + " in [[" +
         std::string(path.substr(0, array)) + "]]";
}

// The section's keys, or all where it has none.
std::vector<std::string> Candidates(std::string_view section,
                                    const std::vector<std::string>& known) {
  std::vector<std::string> own;
  for (const std::string& path : known) {
    if (SectionOf(path) == section) {
      own.push_back(path);
    }
  }
  return own.empty() ? known : own;
}

}  // namespace

int64_t EditDistance(std::string_view a, std::string_view b) {
  const std::string x = Normal(a);
  const std::string y = Normal(b);
  std::vector<int64_t> before(y.size() + 1);  // two rows up
  std::vector<int64_t> above(y.size() + 1);
  std::vector<int64_t> row(y.size() + 1);
  for (size_t j = 0; j <= y.size(); ++j) {
    row[j] = static_cast<int64_t>(j);
  }
  for (size_t i = 1; i <= x.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= y.size(); ++j) {
      const int64_t replaced = above[j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[y.size()];
}

std::string NearestWord(std::string_view word,
                        const std::vector<std::string>& words) {
  const auto nearest = std::min_element(
      words.begin(), words.end(), [&](const auto& a, const auto& b) {
        return EditDistance(word, a) < EditDistance(word, b);
      });
  return nearest == words.end() ? "" : *nearest;
}

std::string SuggestKey(std::string_view section, std::string_view key,
                       const std::vector<std::string>& known) {
  std::string best;
  int64_t best_rank = kFar;
  for (const std::string& path : known) {
    if (const int64_t rank = Rank(section, key, path); rank < best_rank) {
      best = path;
      best_rank = rank;
    }
  }
  if (best_rank < kFar) {
    return "did you mean " + Readable(best) + "?";
  }
  std::string nearest;
  for (const std::string& path : Candidates(section, known)) {
    if (nearest.empty() ||
        EditDistance(key, KeyOf(path)) < EditDistance(key, KeyOf(nearest))) {
      nearest = path;
    }
  }
  return nearest.empty() ? "" : "nearest valid key: " + Readable(nearest);
}

std::string SuggestSection(std::string_view section,
                           const std::vector<std::string>& known) {
  const std::string nearest = NearestWord(section, known);
  if (nearest.empty()) {
    return "";
  }
  return IsNear(section, nearest) ? "did you mean [" + nearest + "]?"
                                  : "nearest valid section: [" + nearest + "]";
}

}  // namespace lockstep
