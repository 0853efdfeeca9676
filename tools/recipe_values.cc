#include "tools/recipe_values.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace lockstep {

std::map<std::string, std::string> RecipeValues(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> entry =
        absl::StrSplit(line, absl::MaxSplits(" = ", 1));
    values.insert(entry);
  }
  return values;
}

bool FollowsFromOthers(const std::string& key) {
  return key == "schedule.length_samples" || key == "schedule.warmup_samples" ||
         key == "schedule.decay_samples";
}

std::vector<std::string> ChangedValues(
    const std::string& from, const std::string& to,
    const std::function<bool(const std::string& key)>& counts) {
  const auto before = RecipeValues(from), after = RecipeValues(to);
  std::set<std::string> keys;
  for (const auto& [key, value] : before) keys.insert(key);
  for (const auto& [key, value] : after) keys.insert(key);
  const auto value_in = [](const auto& values, const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string("(absent)") : found->second;
  };
  std::vector<std::string> changes;
  for (const std::string& key : keys) {
    const std::string a = value_in(before, key), b = value_in(after, key);
    if (a == b || !counts(key)) continue;
    changes.push_back(absl::StrCat(key, ": ", a, " -> ", b));
  }
  return changes;
}

}  // namespace lockstep
