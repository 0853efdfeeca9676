#include "ckpt/verify_files.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "ckpt/box_copy.h"
#include "ckpt/hash_tree.h"
#include "ckpt/hashed_reads.h"
#include "ckpt/safetensors.h"
#include "determinism/first_line.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr uint64_t kOneHash = 0;  // block_bytes of what has no blocks

struct Extent {
  std::string tensor;  // "" for a header or a whole file
  uint64_t from = 0;
  uint64_t to = 0;
  HashTree tree;
};

struct Boxed {
  const IndexTensor* tensor;
  const IndexBox* box;
};

// One file of the checkpoint.
class FileVerifier {
 public:
  FileVerifier(const CheckpointIndex& index, const std::string& name,
               std::vector<Damage>& damage)
      : index_(index),
        name_(name),
        record_(index.files.at(name)),
        damage_(damage) {}

  // `boxes` are those of a shard, by their place. What cannot be read is damage
  // of this file, so that nothing hides what the others have.
  void Verify(FileSystem& file_system, const std::string& path,
              const std::vector<Boxed>& boxes) {
    const absl::Status read = VerifyAll(file_system, path, boxes);
    if (!read.ok()) Add("", 0, record_.size_bytes, FirstLine(read));
  }

 private:
  absl::Status VerifyAll(FileSystem& file_system, const std::string& path,
                         const std::vector<Boxed>& boxes) {
    const absl::StatusOr<FileInfo> info = file_system.Stat(path);
    if (info.ok() && info->is_link) {
      Add("", 0, record_.size_bytes, "is a symbolic link");
      return absl::OkStatus();
    }
    const auto file = file_system.OpenRead(path);
    if (absl::IsNotFound(file.status())) {
      Add("", 0, record_.size_bytes, "is missing");
      return absl::OkStatus();
    }
    LS_RETURN_IF_ERROR(file.status());
    const size_t before = damage_.size();
    LS_RETURN_IF_ERROR(VerifyExtents(**file, {Start()}, kOneHash));
    const bool start_holds = damage_.size() == before;
    LS_RETURN_IF_ERROR(
        VerifyExtents(**file, ExtentsOf(boxes), index_.hash_block_bytes));
    const uint64_t present = (*file)->Size();
    if (present > record_.size_bytes) {
      Add("", record_.size_bytes, present, "bytes after the end of the file");
    }
    if (!start_holds || present != record_.size_bytes || !IsShard()) {
      return absl::OkStatus();
    }
    return VerifyHeader(file_system, path, boxes);
  }

  void Add(const std::string& tensor, uint64_t from, uint64_t to,
           const std::string& what) {
    damage_.push_back({name_, tensor, from, to, what});
  }

  bool IsShard() const { return !record_.header_sha256.empty(); }

  // The header, or all of a file without one.
  Extent Start() const {
    return IsShard()
               ? Extent{"", 0, record_.header_bytes, {record_.header_sha256}}
               : Extent{"", 0, record_.size_bytes, {record_.sha256}};
  }

  static std::vector<Extent> ExtentsOf(const std::vector<Boxed>& boxes) {
    std::vector<Extent> extents;
    for (const auto& [tensor, box] : boxes) {
      extents.push_back({tensor->name, box->offset_bytes,
                         box->offset_bytes + box->size_bytes, box->tree});
    }
    return extents;
  }

  absl::Status VerifyExtents(const RandomAccessFile& file,
                             const std::vector<Extent>& extents,
                             uint64_t block_bytes) {
    const uint64_t present = file.Size();
    std::vector<HashedRead> reads;
    for (const Extent& extent : extents) {
      const bool there = extent.to <= present;
      reads.push_back(
          {&file, extent.from, there ? extent.to - extent.from : 0});
    }
    ReadAndHash(reads, block_bytes);
    for (const HashedRead& read : reads) LS_RETURN_IF_ERROR(read.status);
    for (size_t i = 0; i < extents.size(); ++i) {
      const Extent& extent = extents[i];
      if (extent.to > present) {
        Add(extent.tensor, std::max(extent.from, present), extent.to,
            "is cut off");
        continue;
      }
      for (const ByteRange& range :
           ChangedBlocks(extent.tree, reads[i].tree, extent.from,
                         reads[i].bytes, block_bytes)) {
        Add(extent.tensor, range.from, range.to, "has changed");
      }
    }
    return absl::OkStatus();
  }

  // Of one whose hash holds: a forged index has sound hashes too.
  absl::Status VerifyHeader(FileSystem& file_system, const std::string& path,
                            const std::vector<Boxed>& boxes) {
    const auto shard = SafetensorsFile::Open(file_system, path);
    if (!shard.ok()) {
      Add("", 0, record_.header_bytes, FirstLine(shard.status()));
      return absl::OkStatus();
    }
    for (const auto& [tensor, box] : boxes) {
      if (FindPlace(**shard, *box, *tensor) != nullptr) continue;
      Add(tensor->name, 0, record_.header_bytes,
          "the header has no such tensor of the index's type and shape at "
          "byte " +
              std::to_string(box->offset_bytes));
    }
    if ((*shard)->entries().size() != boxes.size()) {
      Add("", 0, record_.header_bytes,
          "the header has " + std::to_string((*shard)->entries().size()) +
              " tensors, the index " + std::to_string(boxes.size()));
    }
    return absl::OkStatus();
  }

  const CheckpointIndex& index_;
  const std::string& name_;
  const IndexFile& record_;
  std::vector<Damage>& damage_;
};

std::map<std::string, std::vector<Boxed>> BoxesOf(
    const CheckpointIndex& index) {
  std::map<std::string, std::vector<Boxed>> boxes;
  for (const IndexTensor& tensor : index.tensors) {
    for (const IndexBox& box : tensor.boxes) {
      boxes[box.file].push_back({&tensor, &box});
    }
  }
  for (auto& [file, list] : boxes) {
    std::sort(list.begin(), list.end(), [](const Boxed& a, const Boxed& b) {
      return std::tie(a.box->offset_bytes, a.box->size_bytes) <
             std::tie(b.box->offset_bytes, b.box->size_bytes);
    });
  }
  return boxes;
}

}  // namespace

void VerifyFiles(FileSystem& file_system, const std::string& dir,
                 const CheckpointIndex& index, std::vector<Damage>& damage) {
  std::map<std::string, std::vector<Boxed>> boxes = BoxesOf(index);
  for (const auto& [name, record] : index.files) {
    FileVerifier(index, name, damage)
        .Verify(file_system, JoinPath(dir, name), boxes[name]);
  }
}

}  // namespace lockstep
