#include "tools/bisect/loaded_state.h"

#include <set>

#include "ckpt/checkpoint_index.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Of all ranks, each element once; scalars and bytes stand on every rank.
std::string WholeValue(const RanksState& ranks, const IndexTensor& tensor) {
  Fingerprint sum = {};
  for (const auto& [rank, state] : ranks) {
    for (const TensorFingerprint& entry : state) {
      if (entry.name == tensor.name) sum += entry.value;
    }
    if (tensor.kind != StateKind::kTensor) break;
  }
  return sum.Hex();
}

}  // namespace

StateDifference CompareStates(const RanksState& a, const RanksState& b) {
  StateDifference difference;
  std::set<std::string> entries;
  for (const auto& [rank, state] : a) {
    const auto other = b.find(rank);
    if (other == b.end()) continue;
    std::map<std::string, const TensorFingerprint*> by_name;
    for (const TensorFingerprint& entry : other->second) {
      by_name[entry.name] = &entry;
    }
    for (const TensorFingerprint& entry : state) {
      const auto match = by_name.find(entry.name);
      if (match != by_name.end() && match->second->shape == entry.shape &&
          match->second->value == entry.value) {
        continue;
      }
      if (entries.empty()) {
        difference.entry = entry.name;
        difference.rank = rank;
      }
      entries.insert(entry.name);
    }
  }
  difference.entries = static_cast<int64_t>(entries.size());
  return difference;
}

absl::Status TraceToCheckpoint(FileSystem& fs, const std::string& run,
                               int64_t step, const RanksState& other,
                               StateDifference& difference) {
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, run));
  for (const ListedCheckpoint& checkpoint : checkpoints) {
    if (checkpoint.step != step || !checkpoint.complete) continue;
    LS_ASSIGN_OR_RETURN(const CheckpointIndex index,
                        ReadIndex(fs, checkpoint.dir));
    for (const IndexTensor& tensor : index.tensors) {
      if (tensor.name != difference.entry || tensor.boxes.empty()) continue;
      difference.path = JoinPath(checkpoint.dir, tensor.boxes.front().file);
      difference.saved_right = tensor.fingerprint == WholeValue(other, tensor);
    }
  }
  return absl::OkStatus();
}

}  // namespace lockstep
