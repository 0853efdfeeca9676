#include "ckpt/checkpoint_writer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "ckpt/run_lock.h"
#include "ckpt/shard_writer.h"
#include "determinism/fingerprint.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {

CheckpointWriter::CheckpointWriter(FileSystem& file_system,
                                   const SaveOptions& options, ShardTask task,
                                   Snapshot& snapshot)
    : file_system_(file_system),
      options_(options),
      task_(std::move(task)),
      snapshot_(snapshot) {}

absl::Status CheckpointWriter::MakeFolder() {
  LS_RETURN_IF_ERROR(file_system_.RemoveTree(task_.dir));
  return file_system_.MakeDirs(task_.dir);
}

absl::Status CheckpointWriter::Write(SaveRanks& ranks) {
  LS_ASSIGN_OR_RETURN(const std::vector<WrittenShard> shards,
                      WriteShards(file_system_, task_, snapshot_, ranks));
  Describe();
  for (const WrittenShard& shard : shards) AddShard(shard);
  LS_RETURN_IF_ERROR(WriteFile(kManifestFile, options_.manifest_json));
  index_.files[kManifestFile] = {options_.manifest_json.size(),
                                 Sha256Hex(options_.manifest_json), 0, ""};
  // Last: where the index is whole, all that it names has been synced.
  LS_RETURN_IF_ERROR(WriteFile(kIndexFile, IndexToJson(index_)));
  return file_system_.SyncDir(task_.dir);
}

void CheckpointWriter::Describe() {
  index_.step = options_.step;
  index_.run_id = options_.run_id;
  index_.generation =
      options_.lock == nullptr ? 0 : options_.lock->generation();
  index_.ledger_head = options_.ledger_head;
  DescribeTensors();
  std::map<std::string, IndexRuntime> sorted;
  for (const TensorFingerprint& t : snapshot_.runtime) {
    sorted[t.name] = {t.name, t.dtype, t.shape, t.value.Hex()};
  }
  for (auto& [name, tensor] : sorted) {
    index_.runtime.push_back(std::move(tensor));
  }
  index_.runtime_fingerprint = FieldFingerprint(snapshot_.runtime);
}

void CheckpointWriter::DescribeTensors() {
  std::vector<TensorFingerprint> saved = snapshot_.shared;
  saved.insert(saved.end(), snapshot_.common.begin(), snapshot_.common.end());
  std::map<std::string, std::string> fingerprints;
  for (const TensorFingerprint& t : saved) {
    fingerprints[t.name] = t.value.Hex();
  }
  index_.state_fingerprint = FieldFingerprint(saved);
  index_.tensors = snapshot_.tensors;
  for (IndexTensor& tensor : index_.tensors) {
    tensor.fingerprint = fingerprints.at(tensor.name);
  }
}

void CheckpointWriter::AddShard(const WrittenShard& shard) {
  for (size_t i = 0; i < shard.boxes.size(); ++i) {
    const auto tensor = std::lower_bound(
        index_.tensors.begin(), index_.tensors.end(), shard.names[i],
        [](const IndexTensor& t, const std::string& n) { return t.name < n; });
    tensor->boxes.push_back(shard.boxes[i]);
  }
  index_.files[shard.file] = shard.entry;
  size_bytes_ += shard.entry.size_bytes;
}

absl::Status CheckpointWriter::WriteFile(const std::string& name,
                                         const std::string& text) {
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                      file_system_.CreateNew(JoinPath(task_.dir, name)));
  LS_RETURN_IF_ERROR(file->Append(text));
  LS_RETURN_IF_ERROR(file->Sync());
  size_bytes_ += text.size();
  return file->Close();
}

}  // namespace lockstep
