#include "tools/moment_history.h"

#include <set>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ckpt/manifest.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "tools/launches.h"
#include "tools/recipe_values.h"

namespace lockstep {
namespace {

constexpr char kBetas[] = "optimizer.betas";

// "[a, b]".
std::optional<AdamBetas> ParseBetas(absl::string_view list) {
  if (!absl::ConsumePrefix(&list, "[") || !absl::ConsumeSuffix(&list, "]")) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> numbers = absl::StrSplit(list, ", ");
  AdamBetas betas;
  if (numbers.size() != 2 || !absl::SimpleAtod(numbers[0], &betas.first) ||
      !absl::SimpleAtod(numbers[1], &betas.second)) {
    return std::nullopt;
  }
  return betas;
}

// The resolved text has every key.
std::optional<AdamBetas> BetasOf(const Manifest& manifest) {
  const auto values = RecipeValues(manifest.recipe.text);
  const auto found = values.find(kBetas);
  return found == values.end() ? std::nullopt : ParseBetas(found->second);
}

class History {
 public:
  explicit History(FileSystem& fs) : fs_(fs) {}

  MomentHistory Of(const std::string& checkpoint) {
    const std::string why = Collect(checkpoint);
    if (!why.empty()) return {.why_unbounded = why};
    const auto bound = MomentBound::Of(betas_);
    if (bound) return {.bound = bound};
    return {.why_unbounded =
                "with a beta1 whose square is not below beta2 the first "
                "moment can be anything beside the second"};
  }

 private:
  // "", or why not all is known.
  std::string Collect(const std::string& checkpoint) {
    const auto manifest = ReadManifest(fs_, checkpoint);
    if (!manifest.ok()) return FirstLine(manifest.status());
    if (const std::string why = Add(*manifest); !why.empty()) return why;
    std::string dir = DirName(checkpoint);
    for (int up = 0; up < 2; ++up) {
      dir = DirName(dir);
      const auto run = ReadManifest(fs_, dir);
      if (run.ok() && run->run_id == manifest->run_id) return AddRun(dir, *run);
    }
    return AddAlone(*manifest);
  }

  // A checkpoint without its run: betas change by --allow alone, of which a
  // manifest has all since `allowed_since`. A fork may have taken others from
  // its parent without asking.
  std::string AddAlone(const Manifest& manifest) {
    if (!manifest.parent.run_id.empty() || manifest.allowed_since != 0) {
      return absl::StrCat("the folder of its run, ", manifest.run_id,
                          ", is not around it");
    }
    for (const Manifest::Allowed& a : manifest.allowed) {
      if (a.key != kBetas) continue;
      for (const std::string& list : {a.saved, a.current}) {
        const auto betas = ParseBetas(list);
        if (!betas) return "a manifest has the betas '" + list + "'";
        betas_.push_back(*betas);
      }
    }
    return "";
  }

  std::string Add(const Manifest& manifest) {
    const auto betas = BetasOf(manifest);
    if (!betas) return "a manifest of the run has no optimizer.betas";
    betas_.push_back(*betas);
    return "";
  }

  std::string AddRun(const std::string& dir, const Manifest& run) {
    // A chain of forks that bites its tail would be none.
    if (!seen_.insert(run.run_id).second) return "";
    const auto launches = AllLaunches(fs_, dir);
    if (!launches.ok()) return FirstLine(launches.status());
    for (const Manifest& launch : *launches) {
      if (const std::string why = Add(launch); !why.empty()) return why;
    }
    if (run.parent.run_id.empty()) return "";
    const std::string parent_dir = DirName(DirName(run.parent.checkpoint));
    const auto parent = ReadManifest(fs_, parent_dir);
    if (parent.ok() && parent->run_id == run.parent.run_id) {
      return AddRun(parent_dir, *parent);
    }
    return absl::StrCat("the run that it was forked from, ", run.parent.run_id,
                        ", is not at ", parent_dir);
  }

  FileSystem& fs_;
  std::vector<AdamBetas> betas_;
  std::set<std::string> seen_;
};

}  // namespace

MomentHistory MomentHistoryOf(FileSystem& fs, const std::string& checkpoint) {
  return History(fs).Of(checkpoint);
}

}  // namespace lockstep
