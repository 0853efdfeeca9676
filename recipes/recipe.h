// A recipe: TOML files and --set overrides, resolved to one value a key.
//
// Order of precedence: --set, then the file, then what it extends, then the
// default in the code. Nothing else sets a value: a checkpoint never does.
//
// No function takes "the whole recipe": the caller reads each component's
// section into that component's struct (section.h) and hands on the struct.
// Errors are collected and told together by Finish(), with file, line, key and
// the nearest valid key or value; a key that nobody read is one of them.
//
//   LS_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(fs, "debug.toml", sets));
//   const BatchConfig batch = recipe.Read<BatchConfig>("batch");
//   LS_RETURN_IF_ERROR(recipe.Finish());

#ifndef RECIPES_RECIPE_H_
#define RECIPES_RECIPE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "recipes/section.h"

namespace lockstep {

class FileSystem;

// A resolved value. `section` is "" for the top level; `key` of an array of
// tables is "source.0.path".
struct RecipeEntry {
  std::string section;
  std::string key;
  std::string value;   // canonical TOML, or none
  std::string source;  // "file:line", "--set", "default", "derived"
  bool trajectory = true;

  std::string path() const {
    return section.empty() ? key : section + "." + key;
  }
};

// A key that more than one file or --set gave, with unequal values.
struct RecipeConflict {
  struct Loser {
    std::string value;
    std::string source;
  };
  std::string path;
  std::string value;  // "(gone)" where an array was replaced by a shorter one
  std::string source;
  std::vector<Loser> overridden;  // strongest first
};

class Recipe {
 public:
  // Reads `path` and what it extends; `sets` are "section.key=value".
  // InvalidArgument: a file missing or not TOML, a circle of extends. Wrong
  // sets are told by Finish with the rest.
  static absl::StatusOr<Recipe> Load(FileSystem& file_system,
                                     const std::string& path,
                                     const std::vector<std::string>& sets);
  // The same from memory; `name` stands for the file, and extends is refused.
  static absl::StatusOr<Recipe> FromText(
      std::string_view text, const std::string& name,
      const std::vector<std::string>& sets = {});

  Recipe(Recipe&&) noexcept;
  Recipe& operator=(Recipe&&) noexcept;
  ~Recipe();

  // Describes C from [section]; "" is the top level. Two components may read
  // the same section, and the same key where they declare it alike.
  template <typename C>
  C Read(std::string_view section);

  // An error that only the caller can see (a layout that does not fit), at the
  // key's file and line. `nearest`: a valid value, or "".
  void Error(std::string_view section, std::string_view key,
             std::string_view message, std::string_view nearest = "");

  // OK, or InvalidArgument: a line an error and "N errors in FILE". After all
  // reads; what nobody read is an error here. May be called again after
  // further Error() calls.
  absl::Status Finish();

  // A value that follows from others and belongs to the trajectory, such as the
  // schedule's length in samples. The last call for a key wins; `source` says
  // where a value comes from that a run has kept ("manifest").
  void Derive(std::string_view section, std::string_view key, int64_t value,
              std::string_view source = "derived");

  // All below: after Finish() was OK.

  // Sorted "section.key = value" lines with every default; the same bytes for
  // every way to write the same recipe.
  std::string ResolvedText() const;
  // The part of it that can change a run's bits.
  std::string TrajectoryText() const;
  // SHA-256 of TrajectoryText() and ResolvedText(), 64 hex digits.
  std::string TrajectoryHash() const;
  std::string FullHash() const;

  std::vector<RecipeEntry> Entries() const;       // sorted by path
  std::vector<RecipeConflict> Conflicts() const;  // sorted by path
  // Every key of the sections read, with type, range, default and help.
  std::string HelpText() const;

  const std::string& path() const;      // as given
  const std::string& name() const;      // "debug" for "recipes/debug.toml"
  const std::string& base_dir() const;  // "recipes"; "." where there is none

 private:
  explicit Recipe(std::unique_ptr<RecipeState> state);
  // Calls `describe` with the section opened.
  void Describe(std::string_view section,
                const std::function<void(Section&)>& describe);

  std::unique_ptr<RecipeState> state_;
};

template <typename C>
C Recipe::Read(std::string_view section) {
  C config;
  Describe(section, [&](Section& s) { DescribeSection(s, config); });
  return config;
}

struct RecipeDifference {
  std::string path;
  std::string left;  // "(absent)" where only the other has the key
  std::string right;
  bool trajectory = true;
};

// The keys in which two finished recipes differ, sorted by path.
std::vector<RecipeDifference> Diff(const Recipe& left, const Recipe& right);

}  // namespace lockstep

#endif  // RECIPES_RECIPE_H_
