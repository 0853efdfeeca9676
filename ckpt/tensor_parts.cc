#include "ckpt/tensor_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Of open files at a time, well below what a process may have.
constexpr size_t kMostOpenShards = 256;

int64_t ProductFrom(const std::vector<int64_t>& shape, size_t dim) {
  int64_t product = 1;
  for (size_t d = dim; d < shape.size(); ++d) product *= shape[d];
  return product;
}

// The rows of `box` that hold all of `both`: contiguous in the box.
Box RowsAround(const Box& both, const IndexBox& box) {
  Box rows = both;
  size_t dim = 0;  // the first along which there are several
  while (dim < rows.shape.size() && rows.shape[dim] == 1) ++dim;
  for (size_t d = dim + 1; d < rows.shape.size(); ++d) {
    rows.start[d] = box.start[d];
    rows.shape[d] = box.shape[d];
  }
  return rows;
}

}  // namespace

absl::Status ForEachPart(const std::vector<int64_t>& shape, size_t width,
                         const Box& box, int64_t most_bytes,
                         const std::function<absl::Status(const Box&)>& body) {
  if (ElementsOf(box) == 0) return absl::OkStatus();
  const size_t rank = shape.size();
  if (rank == 0) return body(box);
  const int64_t most = std::max<int64_t>(
      most_bytes / static_cast<int64_t>(width), 1);  // elements
  size_t dim = 0;  // the first whose rows are small enough
  while (dim + 1 < rank && ProductFrom(shape, dim + 1) > most) ++dim;
  const int64_t rows = std::max<int64_t>(most / ProductFrom(shape, dim + 1), 1);
  Box part = box;
  for (size_t d = 0; d < dim; ++d) part.shape[d] = 1;
  while (true) {
    const int64_t end = box.start[dim] + box.shape[dim];
    for (int64_t at = box.start[dim]; at < end; at += rows) {
      part.start[dim] = at;
      part.shape[dim] = std::min(rows, end - at);
      LS_RETURN_IF_ERROR(body(part));
    }
    size_t d = dim;
    while (d > 0 &&
           ++part.start[d - 1] == box.start[d - 1] + box.shape[d - 1]) {
      part.start[d - 1] = box.start[d - 1];
      --d;
    }
    if (d == 0) return absl::OkStatus();
  }
}

Box WholeOf(const IndexTensor& tensor) {
  return {std::vector<int64_t>(tensor.shape.size(), 0), tensor.shape};
}

ptrdiff_t NumberOf(const CheckpointIndex& index, const std::string& name) {
  const auto found = std::lower_bound(
      index.tensors.begin(), index.tensors.end(), name,
      [](const IndexTensor& t, const std::string& n) { return t.name < n; });
  return found == index.tensors.end() || found->name != name
             ? -1
             : found - index.tensors.begin();
}

Fingerprint FingerprintOf(const IndexTensor& tensor, const Box& part,
                          std::span<const char> bytes) {
  return FingerprintBox(bytes.data(), tensor.dtype, tensor.shape, part.start,
                        part.shape);
}

absl::Status CheckSum(const IndexTensor& tensor, const Fingerprint& sum,
                      const std::string& dir) {
  if (sum.Hex() == tensor.fingerprint) return absl::OkStatus();
  return NoUsableCheckpoint(
      absl::StrCat("the bytes of ", tensor.name, " have fingerprint ",
                   sum.Hex(), ", the saver saw ", tensor.fingerprint),
      dir, "`lockstep ckpt verify` says what holds; use another checkpoint");
}

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(
    FileSystem& file_system, const std::string& dir) {
  std::unique_ptr<CheckpointReader> reader(
      new CheckpointReader(file_system, dir));
  LS_ASSIGN_OR_RETURN(reader->index_, ReadIndex(file_system, dir));
  return reader;
}

absl::StatusOr<RandomAccessFile*> CheckpointReader::Shard(
    const std::string& name) {
  auto& shard = shards_[name];
  if (shard != nullptr) return shard.get();
  if (shards_.size() > kMostOpenShards) {
    shards_.clear();
    return Shard(name);
  }
  LS_ASSIGN_OR_RETURN(shard, file_system_.OpenRead(JoinPath(dir_, name)));
  return shard.get();
}

absl::Status CheckpointReader::Read(const IndexTensor& tensor, const Box& part,
                                    std::span<char> out) {
  const size_t width = SizeOf(tensor.dtype);
  LS_CHECK_EQ(out.size(), static_cast<size_t>(ElementsOf(part)) * width);
  for (const IndexBox& box : tensor.boxes) {
    const std::optional<Box> both = Overlap({box.start, box.shape}, part);
    if (!both || box.size_bytes == 0) continue;
    LS_RETURN_IF_ERROR(ReadFromBox(tensor, box, *both, part, out));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const char>> CheckpointReader::Read(
    const IndexTensor& tensor, const Box& part) {
  part_.resize(static_cast<size_t>(ElementsOf(part)) * SizeOf(tensor.dtype));
  LS_RETURN_IF_ERROR(Read(tensor, part, {part_.data(), part_.size()}));
  return std::span<const char>(part_);
}

absl::StatusOr<Fingerprint> CheckpointReader::Sum(const IndexTensor& tensor) {
  Fingerprint sum;
  LS_RETURN_IF_ERROR(
      ForEachPart(tensor.shape, SizeOf(tensor.dtype), WholeOf(tensor),
                  kPartBytes, [&](const Box& part) -> absl::Status {
                    LS_ASSIGN_OR_RETURN(const std::span<const char> bytes,
                                        Read(tensor, part));
                    sum += FingerprintOf(tensor, part, bytes);
                    return absl::OkStatus();
                  }));
  return sum;
}

absl::Status CheckpointReader::CheckFingerprints() {
  for (const IndexTensor& tensor : index_.tensors) {
    LS_ASSIGN_OR_RETURN(const Fingerprint sum, Sum(tensor));
    LS_RETURN_IF_ERROR(CheckSum(tensor, sum, dir_));
  }
  return absl::OkStatus();
}

absl::Status CheckpointReader::ReadFromBox(const IndexTensor& tensor,
                                           const IndexBox& box, const Box& both,
                                           const Box& part,
                                           std::span<char> out) {
  const size_t width = SizeOf(tensor.dtype);
  const Box rows = RowsAround(both, box);
  uint64_t first = 0;  // element of the box
  for (size_t d = 0; d < rows.start.size(); ++d) {
    first = first * static_cast<uint64_t>(box.shape[d]) +
            static_cast<uint64_t>(rows.start[d] - box.start[d]);
  }
  LS_ASSIGN_OR_RETURN(RandomAccessFile* const shard, Shard(box.file));
  const uint64_t offset = box.offset_bytes + first * width;
  if (rows == part) return shard->ReadAt(offset, out.size(), out.data());
  rows_.resize(static_cast<size_t>(ElementsOf(rows)) * width);
  LS_RETURN_IF_ERROR(shard->ReadAt(offset, rows_.size(), rows_.data()));
  CopyOverlap(rows, rows_.data(), part, out.data(), width);
  return absl::OkStatus();
}

}  // namespace lockstep
