#include "ckpt/index_check.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/safetensors.h"

namespace lockstep {
namespace {

// Of a tensor, more than there are ranks. Each is held against each other one,
// so an index that somebody filled with boxes would be read for hours.
constexpr size_t kMostBoxes = 16384;

// Of a block: a reader may hold one.
constexpr uint64_t kMostBlockBytes = uint64_t{1} << 40;

bool IsPlainFileName(const std::string& name) {
  return !name.empty() && name.front() != '.' &&
         name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos && name != kIndexFile;
}

// How an entry of this kind lies on disk (checkpoint_index.h).
std::string CheckKind(const IndexTensor& tensor) {
  const bool scalar = tensor.shape == std::vector<int64_t>{1};
  bool fits = true;
  switch (tensor.kind) {
    case StateKind::kTensor:
      break;
    case StateKind::kU64:
      fits = scalar && tensor.dtype == DType::kU64;
      break;
    case StateKind::kI64:
      fits = scalar && tensor.dtype == DType::kI64;
      break;
    case StateKind::kF64:
      fits = scalar && tensor.dtype == DType::kF64;
      break;
    case StateKind::kBytes:
      fits = tensor.shape.size() == 1 && tensor.dtype == DType::kU8;
      break;
  }
  return fits ? "" : "has a type or shape that is not its kind's";
}

std::string CheckBlocks(const CheckpointIndex& index) {
  const uint64_t bytes = index.hash_block_bytes;
  if (bytes % kHashBlockBytes != 0) {
    return "has blocks that are not of whole MiB";
  }
  if (bytes > kMostBlockBytes) return "has blocks of more than a TiB";
  return bytes == 0 && index.format_version >= 2 ? "has blocks of no bytes"
                                                 : "";
}

// "" if `box` lies in a tensor of this shape and its bytes fit.
std::string CheckBox(const IndexTensor& tensor, const IndexBox& box) {
  const size_t rank = tensor.shape.size();
  if (box.start.size() != rank || box.shape.size() != rank) {
    return "has a box of another rank";
  }
  for (size_t d = 0; d < rank; ++d) {
    if (box.start[d] < 0 || box.shape[d] < 0 ||
        box.start[d] > tensor.shape[d] ||
        box.shape[d] > tensor.shape[d] - box.start[d]) {
      return "has a box outside of it";
    }
  }
  const absl::StatusOr<uint64_t> bytes = TensorBytes(tensor.dtype, box.shape);
  if (!bytes.ok() || *bytes != box.size_bytes) {
    return "has a box whose bytes do not fit its shape";
  }
  return "";
}

bool Overlap(const IndexBox& a, const IndexBox& b) {
  if (a.size_bytes == 0 || b.size_bytes == 0) return false;
  for (size_t d = 0; d < a.start.size(); ++d) {
    if (a.start[d] >= b.start[d] + b.shape[d] ||
        b.start[d] >= a.start[d] + a.shape[d]) {
      return false;
    }
  }
  return true;
}

// Disjoint boxes inside a tensor cover it if their bytes add up to its own.
std::string CheckBoxes(const IndexTensor& tensor) {
  const absl::StatusOr<uint64_t> bytes =
      TensorBytes(tensor.dtype, tensor.shape);
  if (!bytes.ok()) return std::string(bytes.status().message());
  if (tensor.boxes.size() > kMostBoxes) {
    return "has more than " + std::to_string(kMostBoxes) + " boxes";
  }
  uint64_t covered = 0;
  for (size_t i = 0; i < tensor.boxes.size(); ++i) {
    const std::string error = CheckBox(tensor, tensor.boxes[i]);
    if (!error.empty()) return error;
    for (size_t j = 0; j < i; ++j) {
      if (Overlap(tensor.boxes[i], tensor.boxes[j])) {
        return "has boxes that overlap";
      }
    }
    covered += tensor.boxes[i].size_bytes;
  }
  return covered == *bytes && !tensor.boxes.empty()
             ? ""
             : "is not covered by its boxes";
}

using Extent = std::pair<uint64_t, uint64_t>;  // offset, bytes

// "" if header and tensors are the whole file.
std::string CheckShard(const IndexFile& file, std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end());
  uint64_t end = file.header_bytes;
  for (const Extent& extent : extents) {
    if (extent.first != end || extent.second > file.size_bytes - end) {
      return "is not the sum of its tensors";
    }
    end += extent.second;
  }
  return end == file.size_bytes ? "" : "has bytes that belong to no tensor";
}

bool TreeFits(const IndexBox& box, uint64_t block_bytes) {
  const uint64_t blocks = BlocksOf(box.size_bytes, block_bytes);
  return box.tree.leaves.size() == (blocks > 1 ? blocks : 0);
}

std::string CheckTensors(const CheckpointIndex& index,
                         std::map<std::string, std::vector<Extent>>& extents) {
  for (size_t i = 0; i < index.tensors.size(); ++i) {
    const IndexTensor& tensor = index.tensors[i];
    const std::string name = "says that tensor \"" + tensor.name + "\" ";
    if (i > 0 && tensor.name <= index.tensors[i - 1].name) {
      return name + "comes twice or out of order";
    }
    for (const std::string& error : {CheckKind(tensor), CheckBoxes(tensor)}) {
      if (!error.empty()) return name + error;
    }
    for (const IndexBox& box : tensor.boxes) {
      if (!extents.contains(box.file)) {
        return name + "lies in an unlisted file \"" + box.file + "\"";
      }
      if (!TreeFits(box, index.hash_block_bytes)) {
        return name + "has other leaves than blocks";
      }
      extents[box.file].push_back({box.offset_bytes, box.size_bytes});
    }
  }
  return "";
}

}  // namespace

std::string ContradictionIn(const CheckpointIndex& index) {
  if (index.step < 0) return "has a negative step";
  if (!index.files.contains(kManifestFile)) return "lists no manifest";
  if (std::string error = CheckBlocks(index); !error.empty()) return error;
  std::map<std::string, std::vector<Extent>> extents;
  for (const auto& [name, file] : index.files) {
    if (!IsPlainFileName(name)) {
      return "lists \"" + name + "\", which is no file of the folder";
    }
    if (file.header_sha256.empty()) continue;
    if (file.header_bytes > file.size_bytes) {
      return "lists \"" + name + "\" with a header longer than the file";
    }
    extents[name];
  }
  const std::string error = CheckTensors(index, extents);
  if (!error.empty()) return error;
  for (const auto& [name, list] : extents) {
    const std::string wrong = CheckShard(index.files.at(name), list);
    if (!wrong.empty()) return "says that \"" + name + "\" " + wrong;
  }
  return "";
}

}  // namespace lockstep
