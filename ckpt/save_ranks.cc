#include "ckpt/save_ranks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "ckpt/safetensors.h"
#include "determinism/sha256.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

std::string ShardName(int rank) {
  const std::string digits = std::to_string(rank);
  return "rank_" + std::string(5 - std::min<size_t>(digits.size(), 5), '0') +
         digits + ".safetensors";
}

std::span<const std::byte> BytesOf(const StateEntry& entry) {
  return {static_cast<const std::byte*>(entry.data), entry.size_bytes()};
}

std::string ToText(const WrittenShard& shard) {
  Json boxes = Json::array();
  for (size_t i = 0; i < shard.boxes.size(); ++i) {
    const IndexBox& box = shard.boxes[i];
    boxes.push_back({shard.names[i], box.start, box.shape, box.offset_bytes,
                     box.size_bytes, box.sha256});
  }
  return Json{{"file", shard.file},
              {"bytes", shard.entry.size_bytes},
              {"header_bytes", shard.entry.header_bytes},
              {"header_sha256", shard.entry.header_sha256},
              {"boxes", boxes}}
      .dump();
}

// Of a rank of this program: what it wrote can be read.
WrittenShard FromText(const std::string& text) {
  const Json json = Json::parse(text);
  WrittenShard shard;
  shard.file = json["file"];
  shard.entry = {json["bytes"], "", json["header_bytes"],
                 json["header_sha256"]};
  for (const Json& box : json["boxes"]) {
    shard.names.push_back(box[0]);
    shard.boxes.push_back({box[1], box[2], shard.file, box[3], box[4], box[5]});
  }
  return shard;
}

// A shard's names are distinct: further boxes of a tensor are numbered.
std::vector<std::string> NamesInShard(const std::vector<StateEntry>& entries) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const StateEntry& entry : entries) {
    const int number = seen[entry.name]++;
    names.push_back(number == 0 ? entry.name
                                : entry.name + "#" + std::to_string(number));
  }
  return names;
}

absl::StatusOr<WrittenShard> WriteShard(
    FileSystem& file_system, const ShardTask& task, int rank,
    const std::vector<StateEntry>& entries) {
  const std::vector<std::string> names = NamesInShard(entries);
  std::vector<SafetensorsSpec> specs;
  std::map<std::string, size_t> numbers;
  WrittenShard written = {.file = ShardName(rank)};
  for (size_t i = 0; i < entries.size(); ++i) {
    specs.push_back({names[i], entries[i].dtype, entries[i].box_shape});
    numbers[names[i]] = i;
    written.names.push_back(entries[i].name);
    written.boxes.push_back({entries[i].box_start, entries[i].box_shape,
                             written.file, 0, entries[i].size_bytes(), ""});
  }
  LS_ASSIGN_OR_RETURN(
      const std::unique_ptr<SafetensorsWriter> shard,
      SafetensorsWriter::Create(
          file_system, JoinPath(task.dir, written.file), std::move(specs),
          {{"step", std::to_string(task.step)}, {"run_id", task.run_id}}));
  for (const SafetensorsEntry& place : shard->entries()) {
    const size_t number = numbers.at(place.name);
    const std::span<const std::byte> bytes = BytesOf(entries[number]);
    LS_RETURN_IF_ERROR(shard->WriteTensor(place.name, bytes));
    Sha256 sha256;
    sha256.Update(bytes);
    written.boxes[number].offset_bytes = place.offset_bytes;
    written.boxes[number].sha256 = sha256.Hex();
  }
  LS_RETURN_IF_ERROR(shard->Finish());
  written.entry = {shard->file_bytes(), "", shard->header_bytes(),
                   shard->header_sha256()};
  return written;
}

}  // namespace

absl::Status SaveRanks::Announce(const ShardTask& task) {
  if (alone()) return absl::OkStatus();
  std::string text = Json{task.dir, task.step, task.run_id}.dump();
  return BroadcastText(*world_, text);
}

absl::StatusOr<ShardTask> SaveRanks::Hear() {
  std::string text;
  LS_RETURN_IF_ERROR(BroadcastText(*world_, text));
  const Json json = Json::parse(text);
  return ShardTask{json[0], json[1], json[2]};
}

absl::Status SaveRanks::Agree(const absl::Status& mine) {
  return alone() ? mine : world_->Agree(mine);
}

absl::StatusOr<int64_t> SaveRanks::Total(int64_t mine) {
  if (!alone()) {
    LS_RETURN_IF_ERROR(world_->AllReduceSum(std::span(&mine, 1)));
  }
  return mine;
}

absl::StatusOr<std::vector<TensorFingerprint>> SaveRanks::Whole(
    const StateRegistry& registry, StateGroupSet groups) {
  if (alone()) return StateTensorFingerprints(registry, groups);
  return WholeState(*world_, registry, groups);
}

absl::StatusOr<std::vector<WrittenShard>> SaveRanks::Gather(
    const WrittenShard& mine) {
  if (alone()) return std::vector<WrittenShard>{mine};
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                      GatherTexts(*world_, ToText(mine)));
  std::vector<WrittenShard> shards;
  for (const std::string& text : texts) shards.push_back(FromText(text));
  return shards;
}

absl::Status WriteOwnShard(FileSystem& file_system, const ShardTask& task,
                           const StateRegistry& registry,
                           const std::vector<StateEntry>& entries,
                           SaveRanks& ranks,
                           std::vector<WrittenShard>* shards) {
  if (shards == nullptr) {  // the first rank describes the whole
    LS_RETURN_IF_ERROR(ranks.Whole(registry, kSavedState).status());
    LS_RETURN_IF_ERROR(
        ranks.Whole(registry, SetOf(StateGroup::kRuntime)).status());
  }
  auto mine = WriteShard(file_system, task, ranks.rank(), entries);
  LS_RETURN_IF_ERROR(ranks.Agree(mine.status()));
  LS_ASSIGN_OR_RETURN(auto all, ranks.Gather(*mine));
  if (shards != nullptr) *shards = std::move(all);
  return absl::OkStatus();
}

}  // namespace lockstep
