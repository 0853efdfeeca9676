#include "tools/launches.h"

#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "ckpt/bounded_read.h"
#include "ckpt/ledger.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

struct Launch {
  int64_t from_step = 0;  // it made the steps after this one
  std::string manifest;   // below the run's folder
};

// Ascending, without those whose steps a later one made again.
std::vector<Launch> LaunchesOf(const std::vector<LedgerEntry>& entries) {
  std::vector<Launch> launches;
  for (const LedgerEntry& entry : entries) {
    if (!BeginsSteps(entry)) continue;
    Launch launch = {.from_step = 0, .manifest = entry.Field("manifest")};
    if (!absl::SimpleAtoi(entry.Field("step"), &launch.from_step)) {
      launch.from_step = 0;  // a `launch`
    }
    std::erase_if(launches, [&](const Launch& earlier) {
      return earlier.from_step >= launch.from_step;
    });
    launches.push_back(std::move(launch));
  }
  return launches;
}

bool SameData(const Manifest& a, const Manifest& b) {
  if (a.data.size() != b.data.size()) return false;
  for (size_t i = 0; i < a.data.size(); ++i) {
    if (a.data[i].size != b.data[i].size) return false;
    if (a.data[i].sha256 != b.data[i].sha256) return false;
  }
  return a.tokenizer.hash == b.tokenizer.hash;
}

bool SameRecipe(const Manifest& a, const Manifest& b) {
  return a.recipe.trajectory == b.recipe.trajectory &&
         a.schedule_length_samples == b.schedule_length_samples &&
         SameData(a, b);
}

}  // namespace

bool SameLayout(const Manifest& a, const Manifest& b) {
  const auto grid = [](const Manifest::Layout& layout) {
    return std::tuple(layout.world, layout.data, layout.tensor,
                      layout.pipeline);
  };
  return grid(a.layout) == grid(b.layout);
}

bool BeginsSteps(const LedgerEntry& entry) {
  return entry.event == "launch" || entry.event == "resume" ||
         entry.event == "fork";
}

absl::StatusOr<Manifest> ReadKeptManifest(FileSystem& fs,
                                          const std::string& run_dir,
                                          const std::string& name) {
  const std::string path = JoinPath(run_dir, name);
  const absl::StatusOr<std::string> text = ReadSmallFile(fs, path);
  if (absl::IsNotFound(text.status())) {
    return InputError("what a launch was made of is gone", path,
                      "put the file back: the ledger names it, and steps of "
                      "that launch are told from it");
  }
  LS_RETURN_IF_ERROR(text.status());
  return ManifestFromJson(*text, path);
}

absl::StatusOr<std::string> KeepLaunch(FileSystem& fs,
                                       const std::string& run_dir,
                                       int64_t generation,
                                       const std::string& manifest_json) {
  const std::string name =
      absl::StrFormat("launches/launch_%08d.json", generation);
  const std::string path = JoinPath(run_dir, name);
  LS_RETURN_IF_ERROR(fs.MakeDirs(JoinPath(run_dir, "launches")));
  const absl::StatusOr<std::string> there = ReadSmallFile(fs, path);
  if (there.ok() && *there == manifest_json) return name;
  if (!absl::IsNotFound(there.status())) {
    return InputError("another launch has kept its manifest under this name",
                      path,
                      "start again, which takes the next number; steps of that "
                      "launch are told from this file, so do not remove it");
  }
  LS_RETURN_IF_ERROR(WriteFileAtomically(fs, path, manifest_json));
  return name;
}

absl::StatusOr<std::vector<Manifest>> AllLaunches(FileSystem& fs,
                                                  const std::string& run_dir) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  std::vector<Manifest> manifests;
  for (const LedgerEntry& entry : ledger.entries) {
    if (!BeginsSteps(entry)) continue;
    const std::string name = entry.Field("manifest");
    if (name.empty()) {
      return InputError("a launch has kept no manifest",
                        run_dir + "/ledger.jsonl", "take what others say");
    }
    LS_ASSIGN_OR_RETURN(manifests.emplace_back(),
                        ReadKeptManifest(fs, run_dir, name));
  }
  return manifests;
}

absl::StatusOr<std::optional<LaunchInForce>> LaunchOfStep(
    FileSystem& fs, const std::string& run_dir, int64_t step) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  const std::vector<Launch> launches = LaunchesOf(ledger.entries);
  std::optional<LaunchInForce> found;
  for (size_t i = launches.size(); i-- > 0;) {
    const Launch& launch = launches[i];
    if (launch.from_step >= step && i > 0) continue;
    if (launch.manifest.empty()) return found;
    LS_ASSIGN_OR_RETURN(Manifest manifest,
                        ReadKeptManifest(fs, run_dir, launch.manifest));
    if (!found) {
      found = {std::move(manifest), launch.from_step};
    } else if (SameRecipe(found->manifest, manifest)) {
      found->since = launch.from_step;
    } else {
      return found;
    }
  }
  return found;
}

absl::StatusOr<std::optional<LaunchInForce>> NextLayout(
    FileSystem& fs, const std::string& run_dir, const Manifest& manifest,
    int64_t from, int64_t to) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  for (const Launch& launch : LaunchesOf(ledger.entries)) {
    if (launch.from_step < from || launch.from_step >= to) continue;
    if (launch.manifest.empty()) continue;
    LS_ASSIGN_OR_RETURN(Manifest later,
                        ReadKeptManifest(fs, run_dir, launch.manifest));
    if (!SameLayout(later, manifest)) {
      return LaunchInForce{std::move(later), launch.from_step};
    }
  }
  return std::nullopt;
}

}  // namespace lockstep
