#include "ckpt/shard_copy.h"

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "ckpt/shard_names.h"
#include "determinism/status.h"

namespace lockstep {

ShardCopier::ShardCopier(FileSystem& file_system, CheckpointReader& from,
                         std::string dir)
    : file_system_(file_system),
      from_(from),
      dir_(std::move(dir)),
      sums_(from.index().tensors.size()) {}

absl::Status ShardCopier::Write(int rank, const std::vector<ShardPiece>& pieces,
                                CheckpointIndex& index) {
  std::vector<std::string> names;
  for (const ShardPiece& piece : pieces) {
    names.push_back(index.tensors[piece.tensor].name);
  }
  names = NamesInShard(names);
  std::vector<SafetensorsSpec> specs;
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < pieces.size(); ++i) {
    specs.push_back(
        {names[i], index.tensors[pieces[i].tensor].dtype, pieces[i].box.shape});
    numbers[names[i]] = i;
  }
  const std::string file = ShardName(rank);
  LS_ASSIGN_OR_RETURN(
      const auto shard,
      SafetensorsWriter::Create(
          file_system_, JoinPath(dir_, file), std::move(specs),
          {{"step", std::to_string(index.step)}, {"run_id", index.run_id}}));
  std::vector<IndexBox> boxes(pieces.size());
  for (const SafetensorsEntry& place : shard->entries()) {
    const size_t i = numbers.at(place.name);
    const Box& box = pieces[i].box;
    boxes[i] = {box.start, box.shape, file, place.offset_bytes,
                place.size_bytes};
    LS_ASSIGN_OR_RETURN(boxes[i].tree, WritePiece(*shard, pieces[i]));
  }
  LS_RETURN_IF_ERROR(shard->Finish());
  for (size_t i = 0; i < pieces.size(); ++i) {
    index.tensors[pieces[i].tensor].boxes.push_back(std::move(boxes[i]));
  }
  index.files[file] = {shard->file_bytes(), "", shard->header_bytes(),
                       shard->header_sha256()};
  return absl::OkStatus();
}

absl::StatusOr<HashTree> ShardCopier::WritePiece(SafetensorsWriter& shard,
                                                 const ShardPiece& piece) {
  const IndexTensor& tensor = from_.index().tensors[piece.tensor];
  TreeHash hash;
  LS_RETURN_IF_ERROR(
      ForEachPart(tensor.shape, SizeOf(tensor.dtype), piece.box, kPartBytes,
                  [&](const Box& part) -> absl::Status {
                    LS_ASSIGN_OR_RETURN(const std::span<const char> bytes,
                                        from_.Read(tensor, part));
                    sums_[piece.tensor] += FingerprintOf(tensor, part, bytes);
                    hash.Update(std::string_view(bytes.data(), bytes.size()));
                    return shard.WriteData(std::as_bytes(bytes));
                  }));
  return hash.Finish();
}

absl::Status ShardCopier::CheckSums() const {
  for (size_t t = 0; t < sums_.size(); ++t) {
    LS_RETURN_IF_ERROR(
        CheckSum(from_.index().tensors[t], sums_[t], from_.dir()));
  }
  return absl::OkStatus();
}

}  // namespace lockstep
