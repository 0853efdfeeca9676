#include "tools/bisect/loaded_state.h"

#include <set>
#include <utility>

#include "ckpt/checkpoint_index.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Masters and moments lie on ranks in boxes that add up; all else stands on
// every rank.
bool IsShared(const TensorFingerprint& entry) {
  return entry.dtype == DType::kF32;
}

// Of all ranks, each element once.
std::vector<TensorFingerprint> WholeOf(const RanksState& ranks) {
  std::vector<TensorFingerprint> whole;
  std::map<std::string, size_t> places;
  for (const auto& [rank, state] : ranks) {
    for (const TensorFingerprint& entry : state) {
      const auto [at, added] = places.try_emplace(entry.name, whole.size());
      if (added) {
        whole.push_back(entry);
      } else if (IsShared(entry)) {
        whole[at->second].value += entry.value;
      }
    }
  }
  return whole;
}

std::map<std::string, std::string> ValuesOf(const RanksState& ranks) {
  std::map<std::string, std::string> values;
  for (const TensorFingerprint& entry : WholeOf(ranks)) {
    values[entry.name] = entry.value.Hex();
  }
  return values;
}

// Of a complete checkpoint; nothing where there is none.
absl::StatusOr<std::optional<std::pair<std::string, CheckpointIndex>>> IndexOf(
    FileSystem& fs, const std::string& run, int64_t step) {
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, run));
  for (const ListedCheckpoint& checkpoint : checkpoints) {
    if (checkpoint.step != step || !checkpoint.complete) continue;
    LS_ASSIGN_OR_RETURN(CheckpointIndex index, ReadIndex(fs, checkpoint.dir));
    return std::pair(checkpoint.dir, std::move(index));
  }
  return std::nullopt;
}

}  // namespace

StateDifference CompareStates(const RanksState& a, const RanksState& b,
                              bool across_layouts) {
  if (across_layouts) {
    StateDifference whole =
        CompareStates({{0, WholeOf(a)}}, {{0, WholeOf(b)}}, false);
    whole.rank = -1;
    return whole;
  }
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
  LS_ASSIGN_OR_RETURN(const auto found, IndexOf(fs, run, step));
  if (!found) return absl::OkStatus();
  std::map<std::string, std::string> values = ValuesOf(other);
  for (const IndexTensor& tensor : found->second.tensors) {
    if (tensor.name != difference.entry || tensor.boxes.empty()) continue;
    difference.path = JoinPath(found->first, tensor.boxes.front().file);
    difference.saved_right = tensor.fingerprint == values[tensor.name];
  }
  return absl::OkStatus();
}

absl::StatusOr<StateDifference> SavedDifference(FileSystem& fs,
                                                const std::string& run,
                                                int64_t step,
                                                const RanksState& replayed) {
  StateDifference difference = {.rank = -1};
  LS_ASSIGN_OR_RETURN(const auto found, IndexOf(fs, run, step));
  if (!found) return difference;
  const std::map<std::string, std::string> values = ValuesOf(replayed);
  for (const IndexTensor& tensor : found->second.tensors) {
    const auto value = values.find(tensor.name);
    if (value == values.end() || value->second == tensor.fingerprint) continue;
    if (difference.entries++ > 0 || tensor.boxes.empty()) continue;
    difference.entry = tensor.name;
    difference.path = JoinPath(found->first, tensor.boxes.front().file);
    difference.saved_right = false;
  }
  return difference;
}

absl::StatusOr<StateDifference> SavedApart(FileSystem& fs, const std::string& a,
                                           const std::string& b, int64_t step) {
  StateDifference difference = {.rank = -1};
  LS_ASSIGN_OR_RETURN(const auto one, IndexOf(fs, a, step));
  LS_ASSIGN_OR_RETURN(const auto other, IndexOf(fs, b, step));
  if (!one || !other) return difference;
  std::map<std::string, std::string> values;
  for (const IndexTensor& tensor : one->second.tensors) {
    values[tensor.name] = tensor.fingerprint;
  }
  for (const IndexTensor& tensor : other->second.tensors) {
    if (values[tensor.name] == tensor.fingerprint) continue;
    if (difference.entries++ > 0 || tensor.boxes.empty()) continue;
    difference.entry = tensor.name;
    difference.path = JoinPath(other->first, tensor.boxes.front().file);
  }
  return difference;
}

}  // namespace lockstep
