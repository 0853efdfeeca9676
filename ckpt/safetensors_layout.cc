// Where tensors lie in a file, and the header that says so.

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ckpt/safetensors_header.h"
#include "ckpt/sealed_json.h"
#include "determinism/check.h"

namespace lockstep {

absl::StatusOr<uint64_t> TensorBytes(DType dtype,
                                     const std::vector<int64_t>& shape) {
  int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) return absl::InvalidArgumentError("has a negative dimension");
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, dim, &bytes)) {
      return absl::InvalidArgumentError("has a shape that overflows 64 bits");
    }
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

std::vector<SafetensorsEntry> LayOutSafetensors(
    std::vector<SafetensorsSpec> specs) {
  std::sort(specs.begin(), specs.end(),
            [](const SafetensorsSpec& a, const SafetensorsSpec& b) {
              const size_t a_width = SizeOf(a.dtype), b_width = SizeOf(b.dtype);
              return std::tie(b_width, a.name) < std::tie(a_width, b.name);
            });
  std::vector<SafetensorsEntry> entries;
  std::set<std::string> names = {kSafetensorsMetadata};
  uint64_t offset = 0;
  for (SafetensorsSpec& spec : specs) {
    LS_CHECK(names.insert(spec.name).second) << spec.name;
    const absl::StatusOr<uint64_t> bytes = TensorBytes(spec.dtype, spec.shape);
    LS_CHECK(bytes.ok()) << spec.name << " "
                         << std::string(bytes.status().message());
    entries.push_back(
        {spec.name, spec.dtype, std::move(spec.shape), offset, *bytes});
    offset += *bytes;
  }
  return entries;
}

std::string MakeSafetensorsHeader(
    const std::vector<SafetensorsEntry>& entries,
    const std::map<std::string, std::string>& metadata) {
  std::map<std::string, std::string> all = {{"format", "pt"}};
  all.insert(metadata.begin(), metadata.end());
  nlohmann::json header;  // sorts names
  header[kSafetensorsMetadata] = all;
  for (const SafetensorsEntry& entry : entries) {
    header[entry.name] = {
        {"dtype", NameOf(entry.dtype)},
        {"shape", entry.shape},
        {"data_offsets",
         {entry.offset_bytes, entry.offset_bytes + entry.size_bytes}}};
  }
  std::string text =
      header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  constexpr size_t kLength = 8, kPage = 4096;
  const size_t pages = (kLength + text.size() + kPage - 1) / kPage;
  text.resize(pages * kPage - kLength, ' ');
  return text;
}

}  // namespace lockstep
