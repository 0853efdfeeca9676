#include "recipes/recipe_state.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "determinism/check.h"
#include "determinism/file_system.h"
#include "recipes/key_path.h"

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

// Null unless `part` is the index of an entry.
const Value* EntryOf(const Value& list, const std::string& part) {
  size_t index = 0;
  const char* end = part.data() + part.size();
  const auto result = std::from_chars(part.data(), end, index);
  const bool valid = result.ec == std::errc() && result.ptr == end;
  return valid && index < list.items.size() ? &list.items[index] : nullptr;
}

}  // namespace

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
      at = EntryOf(*at, part);
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

}  // namespace lockstep
