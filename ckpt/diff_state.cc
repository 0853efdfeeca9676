#include "ckpt/diff_state.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "ckpt/element_text.h"
#include "ckpt/state_entries.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

TensorDifference Only(const std::string& name, bool in_checkpoint) {
  return {.name = name,
          .what = in_checkpoint ? "only in A" : "only in B",
          .a = in_checkpoint ? "saved" : "",
          .b = in_checkpoint ? "" : "in the program"};
}

void ComparePart(DType dtype, std::span<const char> saved, const char* live,
                 TensorDifference& d) {
  const size_t width = SizeOf(dtype);
  for (size_t at = 0; at < saved.size(); at += width) {
    const char* const was = saved.data() + at;
    if (std::memcmp(was, live + at, width) == 0) continue;
    if (d.different++ == 0) {
      d.a = ElementText(dtype, was);
      d.b = ElementText(dtype, live + at);
    }
    d.max_ulp = std::max(d.max_ulp, ElementDistance(dtype, was, live + at));
  }
}

// Compares the entry's box with the checkpoint's bytes.
absl::Status CompareEntry(CheckpointReader& saved, const IndexTensor& tensor,
                          const StateEntry& entry, TensorDifference& d) {
  const size_t width = SizeOf(tensor.dtype);
  const char* live = static_cast<const char*>(entry.data);
  return ForEachPart(tensor.shape, width, {entry.box_start, entry.box_shape},
                     kPartBytes, [&](const Box& part) -> absl::Status {
                       LS_ASSIGN_OR_RETURN(const auto bytes,
                                           saved.Read(tensor, part));
                       if (std::memcmp(bytes.data(), live, bytes.size()) != 0) {
                         ComparePart(tensor.dtype, bytes, live, d);
                       }
                       live += bytes.size();
                       return absl::OkStatus();
                     });
}

}  // namespace

absl::StatusOr<std::vector<TensorDifference>> DiffState(
    CheckpointReader& saved, const StateRegistry& registry) {
  std::map<std::string, TensorDifference> found;
  std::set<std::string> here;
  for (const StateEntry& entry : CollectState(registry, kSavedState)) {
    here.insert(entry.name);
    const ptrdiff_t number = NumberOf(saved.index(), entry.name);
    if (number < 0) {
      found[entry.name] = Only(entry.name, false);
      continue;
    }
    const auto& tensor = saved.index().tensors[static_cast<size_t>(number)];
    TensorDifference& d = found[entry.name];
    d.name = entry.name;
    if (entry.kind != tensor.kind || entry.dtype != tensor.dtype ||
        entry.shape != tensor.shape) {
      d.what = "shape";
      continue;
    }
    d.what = "contents";
    d.elements = ElementsOf(WholeOf(tensor));
    LS_RETURN_IF_ERROR(CompareEntry(saved, tensor, entry, d));
  }
  for (const IndexTensor& tensor : saved.index().tensors) {
    if (here.contains(tensor.name)) continue;
    found[tensor.name] = Only(tensor.name, true);
  }
  std::vector<TensorDifference> differences;
  for (auto& [name, d] : found) {
    if (d.what == "contents" && d.different == 0) continue;
    differences.push_back(std::move(d));
  }
  return differences;
}

}  // namespace lockstep
