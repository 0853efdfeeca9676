#include "recipes/suggest.h"

#include <algorithm>

#include "determinism/nearest.h"

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
  return WordDistance(word, other) <= std::max<int64_t>(1, letters / 3) &&
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
  const int64_t distance = WordDistance(key, other);
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

int64_t WordDistance(std::string_view a, std::string_view b) {
  return EditDistance(Normal(a), Normal(b));
}

std::string NearestWord(std::string_view word,
                        const std::vector<std::string>& words) {
  const auto nearest = std::min_element(
      words.begin(), words.end(), [&](const auto& a, const auto& b) {
        return WordDistance(word, a) < WordDistance(word, b);
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
        WordDistance(key, KeyOf(path)) < WordDistance(key, KeyOf(nearest))) {
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
