// Errors for what a recipe gives and nobody read.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "recipes/key_path.h"
#include "recipes/recipe_state.h"
#include "recipes/suggest.h"

namespace lockstep {

void RecipeState::Close() {
  if (!closed_) {
    CollectUnread("", root_);
  }
  closed_ = true;
}

void RecipeState::CollectUnread(const std::string& path, const Value& value) {
  const bool is_section = IsSection(path);
  if (value.is(Value::Kind::kTable) && (is_section || path.empty())) {
    for (const auto& [key, member] : value.members) {
      CollectUnread(JoinKey(path, key), member);
    }
    return;
  }
  if (!is_section && read_.count(path) == 0) {
    AddUnknown(path, value);
  }
  // The entries of an array of tables are sections.
  for (size_t i = 0; i < value.items.size(); ++i) {
    const std::string entry = JoinKey(path, std::to_string(i));
    if (IsSection(entry)) {
      CollectUnread(entry, value.items[i]);
    }
  }
}

void RecipeState::AddUnknown(const std::string& path, const Value& value) {
  const bool section =
      value.is(Value::Kind::kTable) && path.find('.') == std::string::npos;
  const std::string what =
      section ? "[" + path + "]: unknown section" : path + ": unknown key";
  const std::string suggestion = SuggestionFor(path, value);
  AddProblemAt(value.origin,
               what + (suggestion.empty() ? "" : "; " + suggestion));
}

std::string RecipeState::SuggestionFor(const std::string& path,
                                       const Value& value) const {
  const auto [section, key] = SplitLast(path);
  if (section.empty() && value.is(Value::Kind::kTable)) {
    std::vector<std::string> sections;
    std::copy_if(section_order_.begin(), section_order_.end(),
                 std::back_inserter(sections), [](const std::string& name) {
                   return name.find('.') == std::string::npos && !name.empty();
                 });
    return SuggestSection(key, sections);
  }
  return SuggestKey(DeclaredPath(section), key, key_order_);
}

}  // namespace lockstep
