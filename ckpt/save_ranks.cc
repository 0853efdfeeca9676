#include "ckpt/save_ranks.h"

#include <nlohmann/json.hpp>
#include <span>

#include "determinism/status.h"
#include "parallel/over_ranks.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

std::string ToText(const WrittenShard& shard) {
  Json boxes = Json::array();
  for (size_t i = 0; i < shard.boxes.size(); ++i) {
    const IndexBox& box = shard.boxes[i];
    boxes.push_back({shard.names[i], box.start, box.shape, box.offset_bytes,
                     box.size_bytes, box.tree.root, box.tree.leaves});
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
    shard.boxes.push_back(
        {box[1], box[2], shard.file, box[3], box[4], HashTree{box[5], box[6]}});
  }
  return shard;
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

absl::StatusOr<std::string> SaveRanks::OfFirst(std::string mine) {
  if (!alone()) LS_RETURN_IF_ERROR(BroadcastText(*world_, mine));
  return mine;
}

absl::StatusOr<std::vector<TensorFingerprint>> SaveRanks::Whole(
    const StateRegistry& registry, StateGroupSet groups) {
  if (alone()) return StateTensorFingerprints(registry, groups);
  return WholeState(*world_, registry, groups);
}

absl::Status SaveRanks::Add(std::vector<TensorFingerprint>& shares) {
  if (alone()) return absl::OkStatus();
  std::vector<Fingerprint*> sums;
  for (TensorFingerprint& tensor : shares) sums.push_back(&tensor.value);
  return AddOverRanks(*world_, sums);
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

}  // namespace lockstep
