#include "tools/recipe_of_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/status.h"
#include "tools/recipe_values.h"

namespace lockstep {
namespace {

bool IsOfData(const std::string& key) {
  return key.starts_with("data.") && !key.starts_with("data.prefetch");
}

// Not the batch, which may change from step to step and decides which step
// reads a sample.
bool DecidesTheOrder(const std::string& key) {
  return key == "seed" || IsOfData(key);
}

bool IsOfBatch(const std::string& key) {
  return key == "batch.global" || key == "batch.schedule";
}

// What the state of a checkpoint has the shape of, and its weights the meaning.
bool ShapesTheState(const std::string& key) {
  if (key == "model.hidden_dropout" || key == "model.init_std") return false;
  return key.starts_with("model.") || key == "precision.mode" ||
         key == "grid.tensor";
}

bool ShapesTensors(const std::string& key) {
  return ShapesTheState(key) && key != "grid.tensor" && key != "model.chunk" &&
         key != "model.key_block" && key != "model.norm_eps";
}

// A cut between stages is no layer.
std::string WithoutCuts(std::string text) {
  const size_t at = text.find("model.pattern = ");
  if (at == text.npos) return text;
  const size_t end = std::min(text.find('\n', at), text.size());
  const auto first = text.begin() + static_cast<std::ptrdiff_t>(at);
  const auto last = text.begin() + static_cast<std::ptrdiff_t>(end);
  text.erase(std::remove(first, last, '|'), last);
  return text;
}

}  // namespace

std::vector<std::string> OtherModel(const std::string& from,
                                    const std::string& to) {
  return ChangedValues(WithoutCuts(from), WithoutCuts(to), ShapesTensors);
}

absl::Status CheckOrderIsTheRuns(const Manifest& manifest,
                                 const std::string& text,
                                 const std::string& run_dir) {
  const std::string& theirs = manifest.recipe.text;
  const auto changed = ChangedValues(theirs, text, DecidesTheOrder);
  if (!changed.empty()) {
    return ManifestMismatch(
        "the recipe is not the one of this run: " +
            absl::StrJoin(changed, "; "),
        absl::StrCat("the run in ", run_dir, " -> the recipe"),
        "give the run's own recipe, with the --set it was trained with");
  }
  for (const std::string& change : ChangedValues(theirs, text, IsOfBatch)) {
    std::fprintf(stderr,
                 "lockstep: steps that the run has not done have the batches "
                 "of this recipe: %s\n",
                 change.c_str());
  }
  return absl::OkStatus();
}

// Loading would fail on the first tensor that has another shape, and blame the
// checkpoint.
absl::Status CheckModelIsTheRuns(const Manifest& manifest,
                                 const std::string& text,
                                 const Tokenizer& tokenizer,
                                 const std::string& run_dir) {
  std::vector<std::string> changed =
      ChangedValues(manifest.recipe.text, text, ShapesTheState);
  if (tokenizer.identity() != manifest.tokenizer.hash) {
    changed.insert(changed.begin(),
                   absl::StrCat("data.tokenizer: ", manifest.tokenizer.name,
                                " -> ", tokenizer.name(), ", by content"));
  }
  // Exponents of the grid are state on that rung alone.
  const auto on_grid = [](const std::string& recipe) {
    return absl::StrContains(recipe, "guarantee = \"layout_invariant\"");
  };
  if (on_grid(manifest.recipe.text) != on_grid(text)) {
    changed.push_back(
        absl::StrCat("guarantee: the run's is ", NameOf(manifest.guarantee),
                     on_grid(text) ? ", the recipe's layout_invariant"
                                   : ", the recipe's not"));
  }
  if (changed.empty()) return absl::OkStatus();
  return InputError(
      "the recipe has another model than the run: " +
          absl::StrJoin(changed, "; "),
      absl::StrCat("the run in ", run_dir, " -> the recipe"),
      "give the run's recipe, or one that differs in its data alone");
}

void WarnOfOtherData(const Manifest& manifest, const std::string& text) {
  for (const std::string& change :
       ChangedValues(manifest.recipe.text, text, IsOfData)) {
    std::fprintf(stderr,
                 "lockstep: %s: not what the run was trained with; the "
                 "held-out documents may be among those it learned\n",
                 change.c_str());
  }
}

}  // namespace lockstep
