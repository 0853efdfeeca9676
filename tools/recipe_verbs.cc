// `lockstep recipe check|show|diff`.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "tools/run_setup.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

std::string Summary(const ResolvedRun& run) {
  const RunConfig& c = run.config;
  return absl::StrCat(
      run.recipe.path(), ": sound\n  guarantee  ", NameOf(c.guarantee),
      "\n  parameters ", ParameterCount(c.model), "\n  steps      ", c.Steps(),
      "\n  layout     data ", c.parallel.data.value_or(1), " x pipeline ",
      c.parallel.pipeline, " x tensor ", c.parallel.tensor, "\n  trajectory ",
      run.recipe.TrajectoryHash(), "\n  full       ", run.recipe.FullHash(),
      "\n");
}

// Why this build cannot train a sound recipe, or "".
std::string Obstacle(const ResolvedRun& run) {
  return FirstLine(CheckRunnable(run.config, run.config.parallel.world()));
}

}  // namespace

absl::StatusOr<Answer> RecipeCheckVerb(const RecipeOptions& options) {
  LS_ASSIGN_OR_RETURN(
      const ResolvedRun run,
      ResolveRun(*PosixFileSystem(), options.recipe, options.sets, ""));
  const std::string obstacle = Obstacle(run);
  if (!options.json) {
    return Answer{Summary(run) +
                  (obstacle.empty() ? "" : "  but        " + obstacle + "\n")};
  }
  Json object;
  object["ok"] = true;
  object["trainable"] = obstacle.empty();
  object["guarantee"] = NameOf(run.config.guarantee);
  object["parameters"] = ParameterCount(run.config.model);
  object["steps"] = run.config.Steps();
  object["trajectory"] = run.recipe.TrajectoryHash();
  object["full"] = run.recipe.FullHash();
  return Answer{object.dump() + "\n"};
}

absl::StatusOr<Answer> RecipeShowVerb(const RecipeOptions& options) {
  LS_ASSIGN_OR_RETURN(
      const ResolvedRun run,
      ResolveRun(*PosixFileSystem(), options.recipe, options.sets, ""));
  Json object = Json::object();
  std::string text;
  for (const RecipeEntry& entry : run.recipe.Entries()) {
    object[entry.path()] = {{"value", entry.value},
                            {"source", entry.source},
                            {"trajectory", entry.trajectory}};
    absl::StrAppend(&text, entry.path(), " = ", entry.value, "  # ",
                    entry.source, entry.trajectory ? "" : ", not trajectory",
                    "\n");
  }
  for (const RecipeConflict& conflict : run.recipe.Conflicts()) {
    for (const RecipeConflict::Loser& loser : conflict.overridden) {
      absl::StrAppend(&text, "# ", conflict.path, ": ", conflict.value,
                      " from ", conflict.source, " overrides ", loser.value,
                      " from ", loser.source, "\n");
    }
  }
  return Answer{options.json ? object.dump() + "\n" : text};
}

absl::StatusOr<Answer> RecipeKeysVerb() {
  LS_ASSIGN_OR_RETURN(Recipe recipe, Recipe::FromText("", "keys"));
  // An empty recipe has errors; reading it has declared every section.
  ReadRunConfig(recipe, std::nullopt).status().IgnoreError();
  return Answer{recipe.HelpText()};
}

absl::StatusOr<Answer> RecipeDiffVerb(const RecipeOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const ResolvedRun left,
                      ResolveRun(fs, options.recipe, options.sets, ""));
  LS_ASSIGN_OR_RETURN(const ResolvedRun right,
                      ResolveRun(fs, options.other, options.sets, ""));
  Json differences = Json::array();
  std::string text;
  for (const RecipeDifference& d : Diff(left.recipe, right.recipe)) {
    differences.push_back({{"key", d.path},
                           {"left", d.left},
                           {"right", d.right},
                           {"trajectory", d.trajectory}});
    absl::StrAppend(&text, d.path, ": ", d.left, " -> ", d.right,
                    d.trajectory ? "  (trajectory)\n" : "\n");
  }
  const bool same = differences.empty();
  if (same) text = "no difference\n";
  const Json object = {{"equal", same}, {"differences", differences}};
  return Answer{options.json ? object.dump() + "\n" : text, !same};
}

}  // namespace lockstep
