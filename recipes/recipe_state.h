// What a Recipe and its open Sections share: the layered values, what was
// declared of them, the resolved entries and the errors. Internal to recipes/.

#ifndef RECIPES_RECIPE_STATE_H_
#define RECIPES_RECIPE_STATE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "recipes/layers.h"
#include "recipes/recipe.h"
#include "recipes/value.h"

namespace lockstep {

struct KeyRecord {
  std::string section;
  std::string key;
  std::string type;          // with its range
  std::string default_text;  // canonical, "none" or "required"
  std::string help;
  bool trajectory = true;

  bool operator==(const KeyRecord&) const = default;
};

struct Reservation {
  std::vector<std::string> values;  // none: the whole key
  std::string why;
};

class RecipeState {
 public:
  // `root` holds what was given, layered; `file` is the recipe's path.
  RecipeState(Value root, Overridden overridden, std::string file);

  // Null when not given.
  const Value* Find(std::string_view path) const;

  // A table at `path` may hold keys. Not one there: an error.
  void OpenSection(const std::string& path);
  // The value at `path` has a reader, so it is not unknown.
  void MarkRead(const std::string& path) { read_.insert(path); }
  bool IsRead(const std::string& path) const { return read_.count(path) > 0; }
  // For help and suggestions; an entry's is left to its sample. LS_CHECKs that
  // a second declaration agrees.
  void Declare(const KeyRecord& record);
  void Reserve(const std::string& path, Reservation reservation);
  // Null when there is none.
  const Reservation* ReservationOf(const std::string& path) const;

  // Replaces what the path had.
  void SetEntry(RecipeEntry entry);

  // At the place of the value at `path`, or of the section it would stand in.
  void AddProblem(const std::string& path, std::string_view message,
                  std::string_view nearest);
  void AddProblemAt(const Origin& origin, const std::string& text);
  bool IsWrong(const std::string& path) const { return wrong_.count(path) > 0; }

  // Errors for all that was given and never read; once.
  void Close();
  bool closed() const { return closed_; }
  absl::Status Report() const;

  // Relative to the file that gave `value`.
  std::string ResolvePath(const std::string& path, const Value* value) const;

  const std::map<std::string, RecipeEntry>& entries() const { return entries_; }
  const Overridden& overridden() const { return overridden_; }
  std::string HelpText() const;
  const std::string& file() const { return file_; }
  const std::string& name() const { return name_; }
  const std::string& base_dir() const { return base_dir_; }

 private:
  bool IsSection(const std::string& path) const;
  void CollectUnread(const std::string& path, const Value& value);
  void AddUnknown(const std::string& path, const Value& value);
  std::string SuggestionFor(const std::string& path, const Value& value) const;

  const Value root_;
  const Overridden overridden_;
  const std::string file_;
  const std::string name_;
  const std::string base_dir_;

  std::map<std::string, KeyRecord> keys_;  // by path with []
  std::vector<std::string> key_order_;
  std::vector<std::string> section_order_;
  std::map<std::string, Reservation> reserved_;
  std::set<std::string> read_;
  std::set<std::string> wrong_;
  std::map<std::string, RecipeEntry> entries_;
  std::vector<std::pair<Origin, std::string>> problems_;
  bool closed_ = false;
};

}  // namespace lockstep

#endif  // RECIPES_RECIPE_STATE_H_
