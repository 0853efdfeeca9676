#include "ckpt/shard_writer.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "ckpt/box_hashes.h"
#include "ckpt/safetensors.h"
#include "ckpt/shard_names.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Between looks whether anybody still wants the shard.
constexpr size_t kPieceBytes = size_t{4} << 20;

std::span<const std::byte> BytesOf(const StateEntry& entry) {
  return {static_cast<const std::byte*>(entry.data), entry.size_bytes()};
}

bool GivenUp(const Snapshot& snapshot) {
  return snapshot.given_up != nullptr && snapshot.given_up->load();
}

absl::Status CheckSane(const Snapshot& snapshot, int64_t step) {
  for (const StateEntry& entry : snapshot.entries) {
    if (GivenUp(snapshot)) break;
    const std::string insanity = InsanityIn(entry);
    if (insanity.empty()) continue;
    return NumericFailure(
        "will not save a state that is broken: " + insanity,
        "step " + std::to_string(step) + ", " + entry.name,
        "resume from the checkpoint before it, which is untouched; `replay` "
        "shows where the number came from");
  }
  return absl::OkStatus();
}

absl::Status WriteImage(const Snapshot& snapshot, SafetensorsWriter& shard) {
  for (size_t at = 0; at < snapshot.image.size(); at += kPieceBytes) {
    if (GivenUp(snapshot)) return absl::CancelledError("the save was given up");
    LS_RETURN_IF_ERROR(shard.WriteData(snapshot.image.subspan(
        at, std::min(kPieceBytes, snapshot.image.size() - at))));
  }
  return absl::OkStatus();
}

// Shard with header. Its boxes are hashed meanwhile, and looked through for
// what no trained state can hold: then the file is of no use, and nobody names
// it.
class ShardWriter {
 public:
  ShardWriter(const Snapshot& snapshot, int rank)
      : snapshot_(snapshot), written_({.file = ShardName(rank)}) {
    specs_ = ShardSpecs(snapshot.entries);
    for (size_t i = 0; i < snapshot.entries.size(); ++i) {
      const StateEntry& entry = snapshot.entries[i];
      numbers_[specs_[i].name] = i;
      written_.names.push_back(entry.name);
      written_.boxes.push_back({entry.box_start, entry.box_shape, written_.file,
                                0, entry.size_bytes()});
    }
  }

  absl::StatusOr<WrittenShard> Write(FileSystem& file_system,
                                     const ShardTask& task) {
    LS_ASSIGN_OR_RETURN(
        const std::unique_ptr<SafetensorsWriter> shard,
        SafetensorsWriter::Create(
            file_system, JoinPath(task.dir, written_.file), specs_,
            {{"step", std::to_string(task.step)}, {"run_id", task.run_id}}));
    absl::Status sane;
    BoxHashes hashes(snapshot_.given_up);
    HashBoxes(hashes);
    std::thread looks([&] { sane = CheckSane(snapshot_, task.step); });
    const absl::Status done = WriteTo(*shard);
    hashes.Finish();
    looks.join();
    LS_RETURN_IF_ERROR(sane);
    LS_RETURN_IF_ERROR(done);
    if (GivenUp(snapshot_))
      return absl::CancelledError("the save was given up");
    for (IndexBox& box : written_.boxes) {
      box.tree = TreeOf(std::move(box.tree.leaves));
    }
    for (const SafetensorsEntry& place : shard->entries()) {
      written_.boxes[numbers_.at(place.name)].offset_bytes = place.offset_bytes;
    }
    written_.entry = {shard->file_bytes(), "", shard->header_bytes(),
                      shard->header_sha256()};
    return std::move(written_);
  }

 private:
  void HashBoxes(BoxHashes& hashes) {
    for (size_t i = 0; i < snapshot_.entries.size(); ++i) {
      const std::span<const std::byte> bytes = BytesOf(snapshot_.entries[i]);
      std::vector<std::string>& leaves = written_.boxes[i].tree.leaves;
      leaves.resize(BlocksOf(bytes.size(), kHashBlockBytes));
      for (size_t n = 0; n < leaves.size(); ++n) {
        const std::span<const std::byte> rest =
            bytes.subspan(n * kHashBlockBytes);
        hashes.Add(rest.first(std::min<size_t>(rest.size(), kHashBlockBytes)),
                   &leaves[n]);
      }
    }
  }

  absl::Status WriteTo(SafetensorsWriter& shard) {
    if (!snapshot_.image.empty()) {
      LS_RETURN_IF_ERROR(WriteImage(snapshot_, shard));
      return shard.Finish();
    }
    for (const SafetensorsEntry& place : shard.entries()) {
      const StateEntry& entry = snapshot_.entries[numbers_.at(place.name)];
      LS_RETURN_IF_ERROR(shard.WriteTensor(place.name, BytesOf(entry)));
    }
    return shard.Finish();
  }

  const Snapshot& snapshot_;
  WrittenShard written_;
  std::vector<SafetensorsSpec> specs_;
  std::map<std::string, size_t> numbers_;  // in the shard's order of names
};

}  // namespace

absl::StatusOr<std::vector<WrittenShard>> WriteShards(FileSystem& file_system,
                                                      const ShardTask& task,
                                                      Snapshot& snapshot,
                                                      SaveRanks& ranks) {
  LS_RETURN_IF_ERROR(ranks.Add(snapshot.shared));
  LS_RETURN_IF_ERROR(ranks.Add(snapshot.runtime));
  const auto mine =
      ShardWriter(snapshot, ranks.rank()).Write(file_system, task);
  LS_RETURN_IF_ERROR(ranks.Agree(mine.status()));
  return ranks.Gather(*mine);
}

}  // namespace lockstep
