#include "ckpt/save.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "ckpt/folder_names.h"
#include "ckpt/run_lock.h"
#include "ckpt/safetensors.h"
#include "ckpt/state_entries.h"
#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kShardFile[] = "rank_00000.safetensors";

// What index, manifest and folders may take beyond the tensors.
constexpr uint64_t kSlackBytes = 64 << 10;
constexpr uint64_t kIndexBytesPerTensor = 1 << 10;

std::span<const std::byte> BytesOf(const StateEntry& entry) {
  return {static_cast<const std::byte*>(entry.data), entry.size_bytes()};
}

absl::Status CheckSane(const std::vector<StateEntry>& entries,
                       const SaveOptions& options) {
  for (const StateEntry& entry : entries) {
    const std::string insanity = InsanityIn(entry);
    if (insanity.empty()) continue;
    return NumericFailure(
        "will not save a state that is broken: " + insanity,
        "step " + std::to_string(options.step) + ", " + entry.name,
        "resume from the checkpoint before it, which is untouched; `replay` "
        "shows where the number came from");
  }
  return absl::OkStatus();
}

absl::Status CheckSpace(FileSystem& file_system, const SaveOptions& options,
                        const std::vector<StateEntry>& entries) {
  uint64_t needed = kSlackBytes + options.manifest_json.size();
  for (const StateEntry& entry : entries) {
    needed += entry.size_bytes() + kIndexBytesPerTensor;
  }
  LS_ASSIGN_OR_RETURN(const uint64_t available,
                      file_system.FreeBytes(options.run_dir));
  if (available >= needed) return absl::OkStatus();
  return IoError("a checkpoint of about " + std::to_string(needed) +
                     " bytes does not fit: " +
                     std::to_string(needed - available) + " bytes are missing",
                 options.run_dir,
                 "free space or lower checkpoint.keep; earlier checkpoints are "
                 "untouched",
                 ENOSPC);
}

// The folder under its temporary name.
class Writer {
 public:
  Writer(FileSystem& file_system, const SaveOptions& options, std::string dir,
         const StateRegistry& registry, std::vector<StateEntry> entries)
      : file_system_(file_system),
        options_(options),
        dir_(std::move(dir)),
        registry_(registry),
        entries_(std::move(entries)) {}

  absl::Status Write() {
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

  CheckpointIndex& index() { return index_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  // All but hashes and places.
  void Describe() {
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

  void DescribeTensors() {
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

  absl::Status WriteShard() {
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

  absl::Status WriteFile(const std::string& name, const std::string& text) {
    LS_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                        file_system_.CreateNew(JoinPath(dir_, name)));
    LS_RETURN_IF_ERROR(file->Append(text));
    LS_RETURN_IF_ERROR(file->Sync());
    size_bytes_ += text.size();
    return file->Close();
  }

  FileSystem& file_system_;
  const SaveOptions& options_;
  const std::string dir_;
  const StateRegistry& registry_;
  const std::vector<StateEntry> entries_;
  CheckpointIndex index_;
  uint64_t size_bytes_ = 0;
};

// Moves the finished folder to its final name.
class Committer {
 public:
  Committer(FileSystem& file_system, const SaveOptions& options)
      : file_system_(file_system),
        options_(options),
        parent_(CheckpointsDir(options.run_dir)),
        name_(CheckpointName(options.step)),
        final_(JoinPath(parent_, name_)) {}

  std::string PathOf(std::string_view prefix) const {
    return JoinPath(
        parent_,
        SideName(prefix, name_,
                 options_.lock == nullptr ? 0 : options_.lock->generation()));
  }

  absl::Status Commit() {
    if (options_.lock != nullptr) {
      LS_RETURN_IF_ERROR(options_.lock->CheckStillHolder());
    }
    std::string aside;
    if (file_system_.Exists(final_)) {
      LS_ASSIGN_OR_RETURN(aside, SetAside());
    }
    const absl::Status moved = MoveIn();
    if (!moved.ok()) {
      if (!aside.empty()) file_system_.Rename(aside, final_).IgnoreError();
      return moved;
    }
    // Committed. What cannot be removed now goes with the next clean-up.
    file_system_.RemoveTree(PathOf(kOldPrefix)).IgnoreError();
    return absl::OkStatus();
  }

  const std::string& final_path() const { return final_; }

 private:
  // An unreadable index counts as ours: a damaged folder is not worth keeping
  // once its replacement stands.
  absl::StatusOr<std::string> SetAside() {
    const absl::StatusOr<CheckpointIndex> index =
        ReadIndex(file_system_, final_);
    const bool foreign = index.ok() && index->run_id != options_.run_id;
    const std::string aside = PathOf(foreign ? kForeignPrefix : kOldPrefix);
    if (!foreign) LS_RETURN_IF_ERROR(file_system_.RemoveTree(aside));
    LS_RETURN_IF_ERROR(file_system_.Rename(final_, aside));
    LS_RETURN_IF_ERROR(file_system_.SyncDir(parent_));
    return aside;
  }

  absl::Status MoveIn() {
    LS_RETURN_IF_ERROR(file_system_.Rename(PathOf(kTempPrefix), final_));
    return file_system_.SyncDir(parent_);
  }

  FileSystem& file_system_;
  const SaveOptions& options_;
  const std::string parent_;
  const std::string name_;
  const std::string final_;
};

absl::Status MakeParent(FileSystem& file_system, const std::string& run_dir) {
  if (file_system.Exists(CheckpointsDir(run_dir))) return absl::OkStatus();
  LS_RETURN_IF_ERROR(file_system.MakeDirs(CheckpointsDir(run_dir)));
  return file_system.SyncDir(run_dir);
}

}  // namespace

absl::StatusOr<SavedCheckpoint> SaveCheckpoint(FileSystem& file_system,
                                               const SaveOptions& options,
                                               const StateRegistry& registry) {
  LS_CHECK_GE(options.step, 0);
  std::vector<StateEntry> entries = CollectState(registry, kSavedState);
  LS_RETURN_IF_ERROR(CheckSane(entries, options));
  LS_RETURN_IF_ERROR(MakeParent(file_system, options.run_dir));
  LS_RETURN_IF_ERROR(CheckSpace(file_system, options, entries));
  Committer committer(file_system, options);
  const std::string temp = committer.PathOf(kTempPrefix);
  Writer writer(file_system, options, temp, registry, std::move(entries));
  absl::Status status = writer.Write();
  if (status.ok()) status = committer.Commit();
  if (!status.ok()) {
    file_system.RemoveTree(temp).IgnoreError();
    return status;
  }
  return SavedCheckpoint{committer.final_path(), std::move(writer.index()),
                         writer.size_bytes()};
}

}  // namespace lockstep
