#include "ckpt/box_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lockstep {

bool Meets(const StateEntry& entry, const IndexBox& box) {
  if (entry.kind == StateKind::kBytes) return true;
  for (size_t d = 0; d < box.start.size(); ++d) {
    if (entry.box_start[d] >= box.start[d] + box.shape[d] ||
        box.start[d] >= entry.box_start[d] + entry.box_shape[d]) {
      return entry.box_shape == box.shape && entry.box_start == box.start;
    }
  }
  return true;
}

const SafetensorsEntry* FindPlace(const SafetensorsFile& shard,
                                  const IndexBox& box,
                                  const IndexTensor& tensor) {
  for (const SafetensorsEntry& place : shard.entries()) {
    if (place.offset_bytes != box.offset_bytes || place.shape != box.shape) {
      continue;
    }
    const std::string name = place.name.substr(0, place.name.rfind('#'));
    const bool named = place.name == tensor.name || name == tensor.name;
    if (named && place.dtype == tensor.dtype) return &place;
  }
  return nullptr;
}

// Runs along the last dim.
void CopyFromBox(const IndexBox& box, const char* bytes, StateEntry& entry) {
  const size_t rank = box.start.size();
  std::vector<int64_t> at(rank), end(rank);
  for (size_t d = 0; d < rank; ++d) {
    at[d] = std::max(box.start[d], entry.box_start[d]);
    end[d] = std::min(box.start[d] + box.shape[d],
                      entry.box_start[d] + entry.box_shape[d]);
  }
  const std::vector<int64_t> begin = at;
  const size_t width = SizeOf(entry.dtype);
  const auto run = static_cast<size_t>(end[rank - 1] - at[rank - 1]) * width;
  while (true) {
    int64_t from = 0, to = 0;
    for (size_t d = 0; d < rank; ++d) {
      from = from * box.shape[d] + at[d] - box.start[d];
      to = to * entry.box_shape[d] + at[d] - entry.box_start[d];
    }
    std::memcpy(
        static_cast<char*>(entry.data) + static_cast<size_t>(to) * width,
        bytes + static_cast<size_t>(from) * width, run);
    size_t d = rank - 1;  // the next run: count up in the dims before the last
    while (d > 0 && ++at[d - 1] == end[d - 1]) {
      at[d - 1] = begin[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace lockstep
