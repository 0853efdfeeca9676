#include "ckpt/checkpoint_writer.h"

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "ckpt/run_lock.h"
#include "ckpt/safetensors.h"
#include "determinism/fingerprint.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kShardFile[] = "rank_00000.safetensors";

std::span<const std::byte> BytesOf(const StateEntry& entry) {
  return {static_cast<const std::byte*>(entry.data), entry.size_bytes()};
}

}  // namespace

CheckpointWriter::CheckpointWriter(FileSystem& file_system,
                                   const SaveOptions& options, std::string dir,
                                   const StateRegistry& registry,
                                   std::vector<StateEntry> entries)
    : file_system_(file_system),
      options_(options),
      dir_(std::move(dir)),
      registry_(registry),
      entries_(std::move(entries)) {}

absl::Status CheckpointWriter::Write() {
  LS_RETURN_IF_ERROR(file_system_.RemoveTree(dir_));
  LS_RETURN_IF_ERROR(file_system_.MakeDirs(dir_));
  Describe();
  LS_RETURN_IF_ERROR(WriteShard());
  LS_RETURN_IF_ERROR(WriteFile(kManifestFile, options_.manifest_json));
  index_.files[kManifestFile] = {options_.manifest_json.size(),
                                 Sha256Hex(options_.manifest_json), 0, ""};
  // Last: where the index is whole, all that it names has been synced.
  LS_RETURN_IF_ERROR(WriteFile(kIndexFile, IndexToJson(index_)));
  return file_system_.SyncDir(dir_);
}

void CheckpointWriter::Describe() {
  index_.step = options_.step;
  index_.run_id = options_.run_id;
  index_.generation =
      options_.lock == nullptr ? 0 : options_.lock->generation();
  index_.ledger_head = options_.ledger_head;
  const std::vector<TensorFingerprint> runtime =
      StateTensorFingerprints(registry_, SetOf(StateGroup::kRuntime));
  std::map<std::string, IndexRuntime> sorted;
  for (const TensorFingerprint& t : runtime) {
    sorted[t.name] = {t.name, t.dtype, t.shape, t.value.Hex()};
  }
  for (auto& [name, tensor] : sorted) {
    index_.runtime.push_back(std::move(tensor));
  }
  index_.runtime_fingerprint = FieldFingerprint(runtime);
  DescribeTensors();
}

void CheckpointWriter::DescribeTensors() {
  const std::vector<TensorFingerprint> saved =
      StateTensorFingerprints(registry_, kSavedState);
  std::map<std::string, std::string> fingerprints;
  for (const TensorFingerprint& t : saved) {
    fingerprints[t.name] = t.value.Hex();
  }
  index_.state_fingerprint = FieldFingerprint(saved);
  for (const StateEntry& entry : entries_) {
    IndexTensor& tensor = index_.tensors.emplace_back();
    tensor = {entry.name,  entry.group, entry.kind,
              entry.dtype, entry.shape, fingerprints.at(entry.name),
              {}};
    tensor.boxes.push_back({entry.box_start, entry.box_shape, kShardFile, 0,
                            entry.size_bytes(), ""});
  }
}

absl::Status CheckpointWriter::WriteShard() {
  std::vector<SafetensorsSpec> specs;
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < entries_.size(); ++i) {
    specs.push_back(
        {entries_[i].name, entries_[i].dtype, entries_[i].box_shape});
    numbers[entries_[i].name] = i;
  }
  LS_ASSIGN_OR_RETURN(
      const std::unique_ptr<SafetensorsWriter> shard,
      SafetensorsWriter::Create(file_system_, JoinPath(dir_, kShardFile),
                                std::move(specs),
                                {{"step", std::to_string(options_.step)},
                                 {"run_id", options_.run_id}}));
  for (const SafetensorsEntry& place : shard->entries()) {
    const size_t number = numbers.at(place.name);
    const std::span<const std::byte> bytes = BytesOf(entries_[number]);
    LS_RETURN_IF_ERROR(shard->WriteTensor(place.name, bytes));
    Sha256 sha256;
    sha256.Update(bytes);
    IndexBox& box = index_.tensors[number].boxes.front();
    box.offset_bytes = place.offset_bytes;
    box.sha256 = sha256.Hex();
  }
  LS_RETURN_IF_ERROR(shard->Finish());
  index_.files[kShardFile] = {shard->file_bytes(), "", shard->header_bytes(),
                              shard->header_sha256()};
  size_bytes_ += shard->file_bytes();
  return absl::OkStatus();
}

absl::Status CheckpointWriter::WriteFile(const std::string& name,
                                         const std::string& text) {
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                      file_system_.CreateNew(JoinPath(dir_, name)));
  LS_RETURN_IF_ERROR(file->Append(text));
  LS_RETURN_IF_ERROR(file->Sync());
  size_bytes_ += text.size();
  return file->Close();
}

}  // namespace lockstep
