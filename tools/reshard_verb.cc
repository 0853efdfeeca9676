// `lockstep ckpt reshard`: a checkpoint as another layout would have saved it.
//
// The model comes from the manifest in the checkpoint's folder; neither the
// recipe nor the run is needed.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/manifest.h"
#include "ckpt/reshard.h"
#include "determinism/status.h"
#include "model/placement.h"
#include "parallel/over_ranks.h"
#include "tools/checkpoint_at.h"
#include "tools/config_layout.h"
#include "tools/layout_text.h"
#include "tools/trained_model.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

constexpr std::string_view kEmbeddings = "/backbone.embeddings.weight.master";

// The config of the checkpoint's run on the layout that is asked for. Its
// tokenizer says only how large the vocabulary is, and so does the checkpoint.
absl::StatusOr<RunConfig> ConfigOn(FileSystem& fs, const std::string& dir,
                                   const CheckpointIndex& index,
                                   const std::string& layout) {
  LS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(fs, dir));
  LS_ASSIGN_OR_RETURN(std::vector<std::string> sets, LayoutSets(layout));
  sets.push_back("data.tokenizer=\"byte\"");
  sets.push_back("model.vocab=0");
  LS_ASSIGN_OR_RETURN(
      RunConfig config,
      ConfigOfManifest(manifest, JoinPath(dir, kManifestFile), sets));
  for (const IndexTensor& tensor : index.tensors) {
    if (tensor.name.ends_with(kEmbeddings)) {
      config.model.vocab = tensor.shape[0];
    }
  }
  return config;
}

// "backbone.x.weight" of "optimizer/backbone.x.weight.exp_avg".
std::string ParameterOf(const std::string& tensor) {
  const size_t begin = tensor.find('/') + 1;
  return tensor.substr(begin, tensor.rfind('.') - begin);
}

// Masters and moments lie as their parameters do; the rest is the first rank's.
std::vector<std::vector<RankBox>> RanksOf(
    const CheckpointIndex& index,
    const std::vector<std::vector<PlacedBox>>& placed) {
  std::map<std::string, std::vector<std::string>> tensors;  // of a parameter
  for (const IndexTensor& tensor : index.tensors) {
    if ((SetOf(tensor.group) & kSharedState) == 0) continue;
    tensors[ParameterOf(tensor.name)].push_back(tensor.name);
  }
  std::vector<std::vector<RankBox>> ranks(placed.size());
  for (size_t rank = 0; rank < placed.size(); ++rank) {
    for (const PlacedBox& box : placed[rank]) {
      for (const std::string& tensor : tensors[box.parameter]) {
        ranks[rank].push_back({tensor, {box.start, box.shape}});
      }
    }
  }
  return ranks;
}

}  // namespace

absl::StatusOr<Answer> CkptReshardVerb(const CkptOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const std::string dir, CheckpointAt(fs, options.path));
  LS_ASSIGN_OR_RETURN(const CheckpointIndex index, ReadIndex(fs, dir));
  LS_ASSIGN_OR_RETURN(const RunConfig config,
                      ConfigOn(fs, dir, index, options.layout));
  const ParallelConfig& p = config.parallel;
  const PlacedModel model = {.config = config.model,
                             .tensor_grid = config.grid.tensor,
                             .tokens = config.data.sequence,
                             .shape = MeshShapeOf(config),
                             .interleave = static_cast<int>(p.interleave)};
  LS_ASSIGN_OR_RETURN(const auto placed, SavedBoxesOf(model));
  std::string output = options.output;
  while (output.size() > 1 && output.back() == '/') output.pop_back();
  LS_ASSIGN_OR_RETURN(
      const ReshardedCheckpoint made,
      ReshardCheckpoint(fs, {dir, output, RanksOf(index, placed)}));
  const size_t shards = made.index.files.size() - 1;  // and the manifest
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"output", output},
        {"step", made.index.step},
        {"shards", shards},
        {"bytes", made.size_bytes},
        {"state", made.index.state_fingerprint}};
    return Answer{json.dump() + "\n"};
  }
  return Answer{absl::StrCat(
      output, ": step ", made.index.step, " in ", shards, " shard(s) for ",
      ToString(model.shape), ", ", made.size_bytes, " bytes, state ",
      made.index.state_fingerprint, "; read back and fingerprinted again\n")};
}

}  // namespace lockstep
