#include "tools/stored_run.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ckpt/verify.h"
#include "data/shard_list.h"
#include "determinism/status.h"
#include "tools/launches.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

constexpr char kPutBack[] =
    "put back what the run read: a step cannot be done again on other data";

bool IsSet(const std::vector<std::string>& sets, size_t source) {
  const std::string entry = absl::StrCat("data.source.", source, ".");
  for (const std::string& set : sets) {
    if (absl::StartsWith(set, "data.source=") ||
        absl::StartsWith(set, entry + "path=") ||
        absl::StartsWith(set, entry + "text=")) {
      return true;
    }
  }
  return false;
}

// What the manifest says of each source, in order: "dir/x" of a pair's two
// files, the path itself of shards.
std::vector<std::string> SourcePaths(const Manifest& manifest) {
  std::vector<std::string> paths;
  const auto& files = manifest.data;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string prefix(absl::StripSuffix(files[i].path, ".bin"));
    const bool pair = i + 1 < files.size() && prefix != files[i].path &&
                      files[i + 1].path == prefix + ".idx";
    paths.push_back(pair ? prefix : files[i].path);
    i += pair ? 1 : 0;
  }
  return paths;
}

// Whether `path` leads to tokens: a pair, or shards (data/shard_list.h).
bool LeadsToTokens(FileSystem& fs, const std::string& path) {
  return fs.Exists(path + ".bin") ||
         (NamesShards(fs, path) && ListShards(fs, path).ok());
}

// What a run prepared it can prepare again, as long as there is the text.
absl::Status CheckPrepared(FileSystem& fs, const std::string& prefix,
                           const std::string& text) {
  for (const char* end : {".bin", ".idx"}) {
    if (fs.Exists(prefix + end)) continue;
    return InputError(
        "a token file that the run prepared from text is gone",
        absl::StrCat(prefix, end, ", from ", text),
        "call `lockstep train` with the run's recipe again: it prepares the "
        "same text anew, also where no step is left to do");
  }
  return absl::OkStatus();
}

std::string Describe(const std::string& path, int64_t size,
                     const std::string& sha256) {
  return absl::StrCat(path, " (", size, " bytes, content ",
                      sha256.empty() ? "unknown" : sha256.substr(0, 16), ")");
}

}  // namespace

absl::StatusOr<Manifest> ManifestOfStep(FileSystem& fs,
                                        const std::string& run_dir,
                                        int64_t step) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, run_dir));
  LS_ASSIGN_OR_RETURN(auto launch, LaunchOfStep(fs, run_dir, step));
  if (launch) return std::move(launch->manifest);
  LS_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(fs, run_dir));
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, run_dir));
  for (const ListedCheckpoint& checkpoint : checkpoints) {
    if (!checkpoint.complete || checkpoint.run_id != manifest.run_id) continue;
    // Retention may take it away meanwhile; the next one serves as well.
    auto found = ReadManifest(fs, checkpoint.dir);
    if (!found.ok()) continue;
    manifest = *std::move(found);
    if (checkpoint.step >= step) break;
  }
  return manifest;
}

absl::StatusOr<RunConfig> StoredConfig(FileSystem& fs,
                                       const std::string& run_dir,
                                       const Manifest& manifest,
                                       const std::vector<std::string>& sets) {
  LS_ASSIGN_OR_RETURN(
      RunConfig config,
      ConfigOfManifest(manifest, run_dir + "/manifest.json", sets));
  auto& sources = config.data.sources;
  const std::vector<std::string> paths = SourcePaths(manifest);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (IsSet(sets, i)) continue;
    if (paths.size() <= i) {
      return InputError(
          absl::StrCat("the manifest names no data of source ", i),
          run_dir + "/manifest.json", kPutBack);
    }
    if (sources[i].text.empty()) {
      const std::string there = JoinPath(manifest.working_dir, paths[i]);
      sources[i].path = LeadsToTokens(fs, there) ? there : paths[i];
    } else {
      const std::string path = JoinPath(run_dir + "/data", BaseName(paths[i]));
      LS_RETURN_IF_ERROR(CheckPrepared(fs, path, sources[i].text));
      sources[i] = {.path = path, .weight = sources[i].weight};
    }
  }
  return config;
}

absl::StatusOr<std::unique_ptr<Dataset>> OpenStoredData(
    FileSystem& fs, const std::string& run_dir, const Manifest& manifest,
    const RunConfig& config) {
  LS_ASSIGN_OR_RETURN(
      auto dataset,
      Dataset::Open(fs, config.data, run_dir, config.seed, config.model.vocab));
  const std::vector<DataFileIdentity> now = dataset->Identities();
  for (size_t i = 0; i < now.size() && i < manifest.data.size(); ++i) {
    const Manifest::DataFile& then = manifest.data[i];
    const auto size = static_cast<int64_t>(now[i].size);
    const bool known = !then.sha256.empty() && !now[i].sha256.empty();
    if (size == then.size && (!known || now[i].sha256 == then.sha256)) continue;
    return InputError("the data are not what the run read",
                      absl::StrCat(Describe(now[i].path, size, now[i].sha256),
                                   "; in the run's manifest: ",
                                   Describe(then.path, then.size, then.sha256)),
                      kPutBack);
  }
  if (dataset->tokenizer().identity() != manifest.tokenizer.hash) {
    return InputError("the tokenizer is not the one of the run",
                      manifest.tokenizer.name, kPutBack);
  }
  return dataset;
}

}  // namespace lockstep
