#include "ckpt/load_match.h"

#include <algorithm>
#include <string_view>

#include "ckpt/complaints.h"
#include "ckpt/load.h"
#include "determinism/nearest.h"

namespace lockstep {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(shape[d]);
  }
  return text + "]";
}

std::string TypeText(StateKind kind, DType dtype,
                     const std::vector<int64_t>& shape) {
  return std::string(NameOf(kind)) + " " + NameOf(dtype) + " " +
         ShapeText(shape);
}

void CheckEntry(const StateEntry& entry, const IndexTensor& tensor,
                Complaints& complaints) {
  const bool length_free = entry.kind == StateKind::kBytes;
  if (entry.kind != tensor.kind || entry.dtype != tensor.dtype ||
      (!length_free && entry.shape != tensor.shape)) {
    complaints.Add(entry.name + " is " +
                   TypeText(tensor.kind, tensor.dtype, tensor.shape) +
                   " in the checkpoint and " +
                   TypeText(entry.kind, entry.dtype, entry.shape) +
                   " in the program; nothing is converted");
  }
}

bool IsOf(const std::string& object, std::string_view name) {
  return name.starts_with(object + "/");
}

bool HaveObject(const std::vector<StateEntry>& entries,
                const std::string& object) {
  return std::any_of(
      entries.begin(), entries.end(),
      [&](const StateEntry& entry) { return IsOf(object, entry.name); });
}

}  // namespace

bool HasObject(const CheckpointIndex& index, const std::string& object) {
  return std::any_of(
      index.tensors.begin(), index.tensors.end(),
      [&](const IndexTensor& tensor) { return IsOf(object, tensor.name); });
}

const IndexTensor* FindTensor(const CheckpointIndex& index,
                              const std::string& name) {
  const auto found = std::lower_bound(
      index.tensors.begin(), index.tensors.end(), name,
      [](const IndexTensor& t, const std::string& n) { return t.name < n; });
  return found == index.tensors.end() || found->name != name ? nullptr
                                                             : &*found;
}

absl::Status CheckMatch(const std::vector<StateEntry>& entries,
                        const CheckpointIndex& index, const std::string& where,
                        const std::string& free_object) {
  const bool one_sided =
      !free_object.empty() &&
      HasObject(index, free_object) != HaveObject(entries, free_object);
  const auto free = [&](std::string_view name) {
    return one_sided && IsOf(free_object, name);
  };
  Complaints complaints;
  std::vector<std::string_view> in_program, in_checkpoint;
  for (const StateEntry& entry : entries) in_program.push_back(entry.name);
  for (const IndexTensor& t : index.tensors) {
    in_checkpoint.push_back(t.name);
  }
  for (const StateEntry& entry : entries) {
    const IndexTensor* tensor = FindTensor(index, entry.name);
    if (tensor == nullptr) {
      if (free(entry.name)) continue;
      complaints.Add("the checkpoint lacks " + entry.name + "; nearest: " +
                     std::string(NearestName(entry.name, in_checkpoint)));
    } else {
      CheckEntry(entry, *tensor, complaints);
    }
  }
  for (const IndexTensor& tensor : index.tensors) {
    if (!free(tensor.name) &&
        !std::binary_search(in_program.begin(), in_program.end(),
                            tensor.name)) {
      complaints.Add(
          "the program has no place for " + tensor.name +
          "; nearest: " + std::string(NearestName(tensor.name, in_program)));
    }
  }
  return complaints.Status(
      "the checkpoint does not fit this program's state:", where,
      "run it with the recipe and the build that it was saved with");
}

}  // namespace lockstep
