#include "recipes/recipe.h"

#include <algorithm>
#include <utility>

#include "determinism/check.h"
#include "determinism/file_system.h"
#include "determinism/sha256.h"
#include "determinism/status.h"
#include "recipes/files.h"
#include "recipes/key_path.h"
#include "recipes/one_of.h"
#include "recipes/recipe_state.h"

namespace lockstep {
namespace {

constexpr char kAbsent[] = "(absent)";

absl::StatusOr<std::unique_ptr<RecipeState>> MakeState(
    const std::string& path, const std::vector<std::string>& sets,
    const ReadText& read) {
  LS_ASSIGN_OR_RETURN(LayeredFiles files, LoadFiles(path, read));
  std::vector<std::pair<Origin, std::string>> problems;
  PutOutOthers(sets, files.root, files.overridden);
  for (const std::string& set : sets) {
    const absl::Status status = ApplySet(set, files.root, files.overridden);
    if (!status.ok()) {
      problems.emplace_back(Origin{.file = "", .line = 0, .set_text = set},
                            std::string(status.message()));
    }
  }
  auto state = std::make_unique<RecipeState>(std::move(files.root),
                                             std::move(files.overridden), path);
  for (const auto& [origin, problem] : problems) {
    state->AddProblemAt(origin, problem);
  }
  return state;
}

std::string LinesOf(const std::map<std::string, RecipeEntry>& entries,
                    bool trajectory_only) {
  std::string text;
  for (const auto& [path, entry] : entries) {
    if (entry.trajectory || !trajectory_only) {
      text += path + " = " + entry.value + "\n";
    }
  }
  return text;
}

// A file may say 1 where the key is a real and its canonical text 1.0.
bool SameValue(const Value& given, const std::string& text) {
  return CanonicalText(given) == text ||
         (given.is(Value::Kind::kInt) &&
          RealText(static_cast<double>(given.integer)) == text);
}

}  // namespace

Recipe::Recipe(std::unique_ptr<RecipeState> state) : state_(std::move(state)) {}
Recipe::Recipe(Recipe&&) noexcept = default;
Recipe& Recipe::operator=(Recipe&&) noexcept = default;
Recipe::~Recipe() = default;

absl::StatusOr<Recipe> Recipe::Load(FileSystem& file_system,
                                    const std::string& path,
                                    const std::vector<std::string>& sets) {
  LS_ASSIGN_OR_RETURN(auto state,
                      MakeState(path, sets, [&](const std::string& file) {
                        return file_system.ReadFile(file);
                      }));
  return Recipe(std::move(state));
}

absl::StatusOr<Recipe> Recipe::FromText(std::string_view text,
                                        const std::string& name,
                                        const std::vector<std::string>& sets) {
  bool given = false;
  const ReadText read = [&](const std::string&) -> absl::StatusOr<std::string> {
    if (std::exchange(given, true)) {
      return absl::InvalidArgumentError("a recipe in memory extends nothing");
    }
    return std::string(text);
  };
  LS_ASSIGN_OR_RETURN(auto state, MakeState(name, sets, read));
  return Recipe(std::move(state));
}

void Recipe::Describe(std::string_view section,
                      const std::function<void(Section&)>& describe) {
  LS_CHECK(!state_->closed()) << "[" << section << "] is read after Finish";
  // [a.b] stands in [a], which may have no keys of its own.
  for (size_t dot = section.find('.'); dot != std::string_view::npos;
       dot = section.find('.', dot + 1)) {
    state_->OpenSection(std::string(section.substr(0, dot)));
  }
  Section opened(*state_, std::string(section), true);
  describe(opened);
}

void Recipe::Error(std::string_view section, std::string_view key,
                   std::string_view message, std::string_view nearest) {
  state_->AddProblem(JoinKey(section, key), message, nearest);
}

absl::Status Recipe::Finish() {
  state_->Close();
  return state_->Report();
}

void Recipe::Derive(std::string_view section, std::string_view key,
                    int64_t value, std::string_view source) {
  const std::string path = JoinKey(section, key);
  LS_CHECK(!state_->IsRead(path)) << path << " is a key that recipes give";
  state_->SetEntry({std::string(section), std::string(key), IntText(value),
                    std::string(source), true});
}

std::string Recipe::ResolvedText() const {
  LS_CHECK(state_->closed()) << "resolved text before Finish";
  return LinesOf(state_->entries(), false);
}

std::string Recipe::TrajectoryText() const {
  LS_CHECK(state_->closed()) << "resolved text before Finish";
  return LinesOf(state_->entries(), true);
}

std::string Recipe::TrajectoryHash() const {
  return Sha256Hex(TrajectoryText());
}

std::string Recipe::FullHash() const { return Sha256Hex(ResolvedText()); }

std::vector<RecipeEntry> Recipe::Entries() const {
  std::vector<RecipeEntry> entries;
  for (const auto& [path, entry] : state_->entries()) {
    entries.push_back(entry);
  }
  return entries;
}

std::vector<RecipeConflict> Recipe::Conflicts() const {
  std::vector<RecipeConflict> conflicts;
  for (const auto& [path, losers] : state_->overridden()) {
    RecipeConflict conflict{path, "(gone)", "", {}};
    const auto winner = state_->entries().find(path);
    if (winner != state_->entries().end()) {
      conflict.value = winner->second.value;
      conflict.source = winner->second.source;
    }
    for (const Value& loser : losers) {
      if (!SameValue(loser, conflict.value)) {
        conflict.overridden.push_back(
            {CanonicalText(loser), loser.origin.Source()});
      }
    }
    if (!conflict.overridden.empty()) {
      conflicts.push_back(std::move(conflict));
    }
  }
  return conflicts;
}

std::string Recipe::HelpText() const { return state_->HelpText(); }
const std::string& Recipe::path() const { return state_->file(); }
const std::string& Recipe::name() const { return state_->name(); }
const std::string& Recipe::base_dir() const { return state_->base_dir(); }

std::vector<RecipeDifference> Diff(const Recipe& left, const Recipe& right) {
  std::map<std::string, RecipeDifference> by_path;
  for (const RecipeEntry& entry : left.Entries()) {
    by_path[entry.path()] = {entry.path(), entry.value, kAbsent,
                             entry.trajectory};
  }
  for (const RecipeEntry& entry : right.Entries()) {
    const auto [at, is_new] = by_path.try_emplace(
        entry.path(),
        RecipeDifference{entry.path(), kAbsent, entry.value, entry.trajectory});
    at->second.right = entry.value;
    at->second.trajectory |= entry.trajectory;
  }
  std::vector<RecipeDifference> differences;
  for (auto& [path, difference] : by_path) {
    if (difference.left != difference.right) {
      differences.push_back(std::move(difference));
    }
  }
  return differences;
}

}  // namespace lockstep
