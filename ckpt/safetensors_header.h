// The header of a safetensors file as text: made, and taken apart with nothing
// taken on trust. Inside ckpt only.

#ifndef CKPT_SAFETENSORS_HEADER_H_
#define CKPT_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/safetensors.h"

namespace lockstep {

// What the reference implementation accepts at most.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

// The one name that is no tensor.
inline constexpr char kSafetensorsMetadata[] = "__metadata__";

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of the data
  std::map<std::string, std::string> metadata;
};

// Sorts `specs` into the order of the data. Offsets of the result count from
// the start of the data.
std::vector<SafetensorsEntry> LayOutSafetensors(
    std::vector<SafetensorsSpec> specs);

// The JSON of such entries, padded so that what stands behind it and the eight
// bytes of its length begins a page: then the data of a shard that lie in pages
// of memory can go to those of a device as they are.
std::string MakeSafetensorsHeader(
    const std::vector<SafetensorsEntry>& entries,
    const std::map<std::string, std::string>& metadata);

// InvalidArgument with a plain reason. Offsets of the result count from the
// start of the data, which are `data_bytes` long.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         uint64_t data_bytes);

}  // namespace lockstep

#endif  // CKPT_SAFETENSORS_HEADER_H_
