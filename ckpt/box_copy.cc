#include "ckpt/box_copy.h"

#include <string>

#include "ckpt/box.h"

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

void CopyFromBox(const IndexBox& box, const char* bytes, StateEntry& entry) {
  CopyOverlap({box.start, box.shape}, bytes, {entry.box_start, entry.box_shape},
              static_cast<char*>(entry.data), SizeOf(entry.dtype));
}

}  // namespace lockstep
