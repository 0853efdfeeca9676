#include "ckpt/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "ckpt/sealed_json.h"

namespace lockstep {
namespace {

absl::Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

// The JSON library keeps the last of equal keys; a file in which a name comes
// twice says two things, so it is refused.
absl::StatusOr<OrderedJson> ParseWithDistinctKeys(std::string_view json) {
  std::vector<std::set<std::string>> open;
  std::string duplicate;
  const auto watch = [&](int, OrderedJson::parse_event_t event,
                         OrderedJson& parsed) {
    if (event == OrderedJson::parse_event_t::object_start) {
      open.emplace_back();
    } else if (event == OrderedJson::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == OrderedJson::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      if (!open.back().insert(key).second) duplicate = key;
    }
    return true;
  };
  OrderedJson parsed = OrderedJson::parse(json, watch, false);
  if (!parsed.is_object()) {
    return Bad("the header is not a JSON object");
  }
  if (!duplicate.empty()) {
    return Bad("the name \"" + duplicate + "\" comes twice");
  }
  return parsed;
}

absl::Status ParseEntry(const std::string& name, const OrderedJson& value,
                        uint64_t data_bytes, SafetensorsEntry& entry) {
  JsonFields fields(value, "tensor \"" + name + "\"");
  std::string dtype;
  std::vector<int64_t> offsets;
  fields.Get("dtype", dtype);
  fields.Get("shape", entry.shape);
  fields.Get("data_offsets", offsets);
  if (fields.ok() && value.size() != 3) fields.Complain("has unknown fields");
  const absl::StatusOr<DType> parsed_dtype = DTypeFromName(dtype);
  if (fields.ok() && !parsed_dtype.ok()) {
    fields.Complain("has the unknown dtype \"" + dtype + "\"");
  }
  if (fields.ok() && offsets.size() != 2) {
    fields.Complain("needs two data_offsets");
  }
  if (!fields.ok()) return Bad(fields.error());
  entry.name = name;
  entry.dtype = *parsed_dtype;
  const absl::StatusOr<uint64_t> bytes = TensorBytes(entry.dtype, entry.shape);
  if (!bytes.ok()) {
    fields.Complain(std::string(bytes.status().message()));
  } else if (offsets[0] < 0 || offsets[1] < offsets[0] ||
             static_cast<uint64_t>(offsets[1]) > data_bytes) {
    fields.Complain("lies outside the file");
  } else if (static_cast<uint64_t>(offsets[1] - offsets[0]) != *bytes) {
    fields.Complain("has data_offsets that do not fit its dtype and shape");
  }
  if (!fields.ok()) return Bad(fields.error());
  entry.offset_bytes = static_cast<uint64_t>(offsets[0]);
  entry.size_bytes = *bytes;
  return absl::OkStatus();
}

absl::Status ParseMetadata(const OrderedJson& value,
                           std::map<std::string, std::string>& metadata) {
  if (!value.is_object()) return Bad("__metadata__ is not an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      return Bad("__metadata__ \"" + key + "\" is not a string");
    }
    metadata[key] = text.get<std::string>();
  }
  return absl::OkStatus();
}

// Without gaps and overlaps, from the first byte to the last.
absl::Status CheckTiling(const std::vector<SafetensorsEntry>& entries,
                         uint64_t data_bytes) {
  uint64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.offset_bytes != end) {
      return Bad("tensor \"" + entry.name + "\" " +
                 (entry.offset_bytes < end ? "overlaps the one before it"
                                           : "leaves a gap before it"));
    }
    end += entry.size_bytes;
  }
  if (end != data_bytes) {
    return Bad(std::to_string(data_bytes - end) +
               " bytes after the last tensor belong to none");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         uint64_t data_bytes) {
  if (json.empty() || json.front() != '{') {
    return Bad("the header does not begin with '{'");
  }
  absl::StatusOr<OrderedJson> parsed = ParseWithDistinctKeys(json);
  if (!parsed.ok()) return parsed.status();
  SafetensorsHeader header;
  for (const auto& [name, value] : parsed->items()) {
    absl::Status status;
    if (name == kSafetensorsMetadata) {
      status = ParseMetadata(value, header.metadata);
    } else {
      status =
          ParseEntry(name, value, data_bytes, header.entries.emplace_back());
    }
    if (!status.ok()) return status;
  }
  // Empty tensors share their place with the one after them.
  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              return std::tie(a.offset_bytes, a.size_bytes, a.name) <
                     std::tie(b.offset_bytes, b.size_bytes, b.name);
            });
  const absl::Status tiling = CheckTiling(header.entries, data_bytes);
  if (!tiling.ok()) return tiling;
  return header;
}

}  // namespace lockstep
