#include "tools/compare/lineage.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "ckpt/manifest_compare.h"
#include "determinism/status.h"
#include "tools/stored_run.h"

namespace lockstep {
namespace {

constexpr size_t kLongestValue = 80;  // characters of a line

std::string Short(const std::string& value) {
  return value.size() <= kLongestValue ? value
                                       : value.substr(0, kLongestValue) + "...";
}

std::string Text(const ManifestDifference& d) {
  return absl::StrCat(d.key, ": ", Short(d.saved), " -> ", Short(d.current),
                      " (", d.why, ")");
}

// Those that can move bits. A run's own rung may call another commit harmless;
// here it is what the numbers are asked to tell apart.
std::vector<ManifestDifference> Differences(const ComparedRun& a,
                                            const ComparedRun& b) {
  const bool invariant = a.manifest.guarantee == Guarantee::kLayoutInvariant &&
                         b.manifest.guarantee == Guarantee::kLayoutInvariant;
  std::vector<ManifestDifference> differences = CompareManifests(
      a.manifest, b.manifest,
      invariant ? Guarantee::kLayoutInvariant : Guarantee::kBitwise);
  std::erase_if(differences, [](const ManifestDifference& d) {
    return d.verdict == Verdict::kHarmless || d.key == "seed";
  });
  return differences;
}

// What two arms must share whatever is tried: the same question in the same
// units, asked on the same layout.
bool MustAgree(std::string_view key) {
  return key.starts_with("data.") || key == "tokenizer" ||
         key.starts_with("layout.");
}

std::string Pair(const ComparedRun& a, const ComparedRun& b) {
  return absl::StrCat(a.dir, " and ", b.dir, ": ");
}

// What the evaluations were of.
void CompareEvaluations(const ComparedRun& a, const ComparedRun& b,
                        std::vector<std::string>& mismatches) {
  const FinalEvaluation& x = a.evaluation;
  const FinalEvaluation& y = b.evaluation;
  if (x.tokens != y.tokens || x.samples != y.samples) {
    mismatches.push_back(absl::StrCat(
        Pair(a, b), "evaluation: of ", x.samples, " samples, ", x.tokens,
        " tokens, and of ", y.samples, " samples, ", y.tokens, " tokens"));
  }
  if (x.tokens_seen != y.tokens_seen) {
    mismatches.push_back(absl::StrCat(Pair(a, b), "length: trained on ",
                                      x.tokens_seen, " and on ", y.tokens_seen,
                                      " tokens"));
  }
}

void FindRepeatedSeeds(const std::vector<ComparedRun>& runs,
                       std::vector<std::string>& mismatches) {
  std::map<uint64_t, const ComparedRun*> seeds;
  for (const ComparedRun& run : runs) {
    const auto [at, is_new] = seeds.try_emplace(run.manifest.root_seed, &run);
    if (is_new) continue;
    mismatches.push_back(absl::StrCat(Pair(*at->second, run),
                                      "seed: both have ", at->first,
                                      ", which counts one sample twice"));
  }
}

// A run's events are mismatches unless every run has the same ones.
void CompareEvents(const std::vector<const ComparedRun*>& runs,
                   std::vector<std::string>& mismatches) {
  const bool shared =
      std::all_of(runs.begin(), runs.end(), [&](const ComparedRun* run) {
        return run->events == runs.front()->events;
      });
  if (shared && runs.size() > 1) return;
  for (const ComparedRun* run : runs) {
    for (const LineageEvent& event : run->events) {
      mismatches.push_back(
          absl::StrCat(run->dir, ": ", event.key, ": ", event.what));
    }
  }
}

std::vector<const ComparedRun*> Pointers(const std::vector<ComparedRun>& runs) {
  std::vector<const ComparedRun*> pointers;
  for (const ComparedRun& run : runs) pointers.push_back(&run);
  return pointers;
}

void MatchArm(const std::vector<ComparedRun>& runs,
              std::vector<std::string>& mismatches) {
  for (size_t i = 1; i < runs.size(); ++i) {
    for (const ManifestDifference& d : Differences(runs[0], runs[i])) {
      mismatches.push_back(absl::StrCat(Pair(runs[0], runs[i]), Text(d)));
    }
    CompareEvaluations(runs[0], runs[i], mismatches);
  }
  FindRepeatedSeeds(runs, mismatches);
}

}  // namespace

std::vector<std::string> MismatchesWithin(
    const std::vector<ComparedRun>& runs) {
  std::vector<std::string> mismatches;
  MatchArm(runs, mismatches);
  CompareEvents(Pointers(runs), mismatches);
  return mismatches;
}

Matching MatchRuns(const std::vector<ComparedRun>& baseline,
                   const std::vector<ComparedRun>& candidate) {
  Matching result;
  MatchArm(baseline, result.mismatches);
  MatchArm(candidate, result.mismatches);
  const ComparedRun& a = baseline.front();
  const ComparedRun& b = candidate.front();
  for (const ManifestDifference& d : Differences(a, b)) {
    if (MustAgree(d.key)) {
      result.mismatches.push_back(absl::StrCat(Pair(a, b), Text(d)));
    } else {
      result.compared.push_back(Text(d));
    }
  }
  CompareEvaluations(a, b, result.mismatches);
  std::set<std::string> ids;
  for (const ComparedRun& run : baseline) ids.insert(run.manifest.run_id);
  for (const ComparedRun& run : candidate) {
    if (!ids.contains(run.manifest.run_id)) continue;
    result.mismatches.push_back(
        absl::StrCat(run.dir, ": run: stands in both arms"));
  }
  std::vector<const ComparedRun*> all = Pointers(baseline);
  for (const ComparedRun& run : candidate) all.push_back(&run);
  CompareEvents(all, result.mismatches);
  return result;
}

absl::StatusOr<ComparedRun> ReadComparedRun(FileSystem& fs,
                                            const std::string& run_dir,
                                            int64_t threads) {
  ComparedRun run;
  run.dir = run_dir;
  LS_ASSIGN_OR_RETURN(run.evaluation, FinalEvaluationOf(fs, run_dir, threads));
  LS_ASSIGN_OR_RETURN(run.manifest,
                      ManifestOfStep(fs, run_dir, run.evaluation.step));
  LS_ASSIGN_OR_RETURN(run.events, LineageEvents(fs, run_dir));
  return run;
}

}  // namespace lockstep
