#include "recipes/recipe_state.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "determinism/check.h"
#include "determinism/file_system.h"
#include "recipes/suggest.h"

namespace lockstep {
namespace {

constexpr size_t kLongestShown = 80;  // bytes of a value in a message

std::string StemOf(const std::string& file) {
  const std::string base = BaseName(file);
  const size_t dot = base.rfind(".toml");
  return dot == std::string::npos || dot + 5 != base.size()
             ? base
             : base.substr(0, dot);
}

std::string ShownValue(const Value& value) {
  // What underflowed is shown as written.
  const std::string text = value.underflow ? value.text : CanonicalText(value);
  return text.size() <= kLongestShown ? text
                                      : text.substr(0, kLongestShown) + "...";
}

// "data.source[].weight" of "data.source.0.weight".
std::string DeclaredPath(const std::string& path) {
  std::string declared;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const bool index =
        part.find_first_not_of("0123456789") == std::string::npos;
    declared += index && begin > 0 ? "[]" : (begin > 0 ? "." : "") + part;
    begin = end + 1;
  }
  return declared;
}

std::pair<std::string, std::string> SplitLast(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos
             ? std::pair(std::string(), path)
             : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

}  // namespace

std::string JoinKey(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key)
                         : std::string(section) + "." + std::string(key);
}

RecipeState::RecipeState(Value root, Overridden overridden, std::string file)
    : root_(std::move(root)),
      overridden_(std::move(overridden)),
      file_(std::move(file)),
      name_(StemOf(file_)),
      base_dir_(DirName(file_)) {}

const Value* RecipeState::Find(std::string_view path) const {
  const Value* at = &root_;
  size_t begin = 0;
  while (at != nullptr && begin < path.size()) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string part(path.substr(begin, end - begin));
    if (at->is(Value::Kind::kList)) {
      // Only Each asks for entries, and by indices that exist.
      const size_t index = std::stoul(part);
      at = index < at->items.size() ? &at->items[index] : nullptr;
    } else {
      at = at->Member(part);
    }
    begin = end + 1;
  }
  return at;
}

bool RecipeState::IsSection(const std::string& path) const {
  return std::find(section_order_.begin(), section_order_.end(), path) !=
         section_order_.end();
}

void RecipeState::OpenSection(const std::string& path) {
  if (IsSection(path)) {
    return;
  }
  section_order_.push_back(path);
  const Value* table = Find(path);
  if (table != nullptr && !table->is(Value::Kind::kTable)) {
    AddProblem(path,
               "expected a table [" + path + "], got " +
                   std::string(NameOf(table->kind)),
               "");
  }
}

void RecipeState::Declare(const KeyRecord& record) {
  LS_CHECK(!record.help.empty())
      << JoinKey(record.section, record.key) << " has no help";
  const std::string path = JoinKey(record.section, record.key);
  if (DeclaredPath(path) != path) {
    return;
  }
  const auto [at, is_new] = keys_.emplace(path, record);
  if (is_new) {
    key_order_.push_back(path);
    return;
  }
  LS_CHECK(at->second.type == record.type &&
           at->second.default_text == record.default_text &&
           at->second.trajectory == record.trajectory)
      << path << " is declared twice, and not alike: " << at->second.type
      << " = " << at->second.default_text << ", " << record.type << " = "
      << record.default_text;
}

void RecipeState::Reserve(const std::string& path, Reservation reservation) {
  LS_CHECK(keys_.count(path) == 0 || reserved_.count(path) > 0)
      << path << " is described before Reserved";
  reserved_[path] = std::move(reservation);
}

const Reservation* RecipeState::ReservationOf(const std::string& path) const {
  const auto found = reserved_.find(path);
  return found == reserved_.end() ? nullptr : &found->second;
}

void RecipeState::SetEntry(RecipeEntry entry) {
  std::string path = entry.path();
  entries_[std::move(path)] = std::move(entry);
}

void RecipeState::AddProblem(const std::string& path, std::string_view message,
                             std::string_view nearest) {
  wrong_.insert(path);
  const Value* given = Find(path);
  std::string text = path;
  if (given != nullptr && !given->is(Value::Kind::kTable)) {
    text += " = " + ShownValue(*given);
  } else if (const auto entry = entries_.find(path); entry != entries_.end()) {
    text += " = " + entry->second.value + " (" + entry->second.source + ")";
  }
  text += ": " + std::string(message);
  if (!nearest.empty()) {
    text += "; nearest valid value: " + std::string(nearest);
  }
  for (std::string at = path; given == nullptr; given = Find(at)) {
    at = SplitLast(at).first;
  }
  AddProblemAt(given->origin, text);
}

void RecipeState::AddProblemAt(const Origin& origin, const std::string& text) {
  const bool told =
      std::any_of(problems_.begin(), problems_.end(), [&](const auto& problem) {
        return problem.second == text &&
               problem.first.Where() == origin.Where();
      });
  if (!told) {
    problems_.emplace_back(origin, text);
  }
}

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

absl::Status RecipeState::Report() const {
  if (problems_.empty()) {
    return absl::OkStatus();
  }
  auto sorted = problems_;
  std::stable_sort(
      sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return std::make_tuple(a.first.from_set(), a.first.file, a.first.line) <
               std::make_tuple(b.first.from_set(), b.first.file, b.first.line);
      });
  std::string text = std::to_string(sorted.size()) +
                     (sorted.size() == 1 ? " error in " : " errors in ") +
                     file_;
  for (const auto& [origin, problem] : sorted) {
    text += "\n  " + origin.Where() + ": " + problem;
  }
  return absl::InvalidArgumentError(text);
}

std::string RecipeState::ResolvePath(const std::string& path,
                                     const Value* value) const {
  const bool from_file = value != nullptr && !value->origin.from_set();
  const std::string dir = from_file ? DirName(value->origin.file) : base_dir_;
  return path.empty() || dir == "." ? path : JoinPath(dir, path);
}

std::string RecipeState::HelpText() const {
  std::string text;
  for (const std::string& section : section_order_) {
    std::string block;
    for (const std::string& path : key_order_) {
      const KeyRecord& record = keys_.at(path);
      if (record.section != section) {
        continue;
      }
      block += "  " + record.key + " = " + record.default_text + "\n      " +
               record.help + "; " + record.type +
               (record.trajectory ? "" : "; not in the trajectory") + "\n";
    }
    if (block.empty()) {
      continue;
    }
    const size_t array = section.find("[]");
    text +=
        array != std::string::npos
            ? "[[" + section.substr(0, array) + "]]\n"
            : (section.empty() ? "(top level)" : "[" + section + "]") + "\n";
    text += block;
  }
  return text;
}

}  // namespace lockstep
