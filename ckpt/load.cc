#include "ckpt/load.h"

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/box_copy.h"
#include "ckpt/box_hashes.h"
#include "ckpt/load_check.h"
#include "ckpt/load_match.h"
#include "ckpt/safetensors.h"
#include "ckpt/save_ranks.h"
#include "ckpt/state_entries.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

class Loader {
 public:
  Loader(FileSystem& file_system, const std::string& dir,
         const StateRegistry& registry, const LoadOptions& options)
      : file_system_(file_system),
        dir_(dir),
        registry_(registry),
        free_object_(options.free_object),
        ranks_(options.world),
        entries_(CollectState(registry, kSavedState)) {}

  absl::StatusOr<CheckpointIndex> Load() {
    LS_RETURN_IF_ERROR(ranks_.Agree(FillAll()));
    LS_RETURN_IF_ERROR(CheckLoaded(registry_, index_, dir_, ranks_));
    return std::move(index_);
  }

 private:
  absl::Status FillAll() {
    LS_ASSIGN_OR_RETURN(index_, ReadIndex(file_system_, dir_));
    LS_RETURN_IF_ERROR(CheckMatch(entries_, index_, dir_, free_object_));
    LS_RETURN_IF_ERROR(OpenShards());
    for (StateEntry& entry : entries_) {
      const IndexTensor* tensor = FindTensor(index_, entry.name);
      if (tensor == nullptr) continue;  // of the free object
      for (const IndexBox& box : tensor->boxes) {
        if (!Meets(entry, box)) continue;
        LS_RETURN_IF_ERROR(Fill(entry, *tensor, box));
      }
    }
    hashes_.Finish();
    for (const Filled& filled : filled_) {
      LS_RETURN_IF_ERROR(Compare(filled));
    }
    return absl::OkStatus();
  }

  absl::Status Damaged(const std::string& what, const std::string& file) const {
    return NoUsableCheckpoint("the checkpoint is damaged: " + what,
                              JoinPath(dir_, file), "use another checkpoint");
  }

  absl::Status CheckPlainFile(const std::string& name,
                              const IndexFile& file) const {
    const absl::StatusOr<std::string> text =
        file_system_.ReadFile(JoinPath(dir_, name));
    if (!text.ok()) return Damaged(std::string(text.status().message()), name);
    return Sha256Hex(*text) == file.sha256 ? absl::OkStatus()
                                           : Damaged("it has changed", name);
  }

  absl::Status OpenShards() {
    for (const auto& [name, file] : index_.files) {
      const auto info = file_system_.Stat(JoinPath(dir_, name));
      if (info.ok() && info->is_link) {
        return Damaged("it is a symbolic link", name);
      }
      if (file.header_sha256.empty()) {
        LS_RETURN_IF_ERROR(CheckPlainFile(name, file));
        continue;
      }
      absl::StatusOr<std::unique_ptr<SafetensorsFile>> shard =
          SafetensorsFile::Open(file_system_, JoinPath(dir_, name));
      if (!shard.ok()) {
        return Damaged(std::string(shard.status().message()), name);
      }
      if ((*shard)->header_sha256() != file.header_sha256 ||
          (*shard)->file_bytes() != file.size_bytes) {
        return Damaged("another file stands here than was saved", name);
      }
      shards_[name] = *std::move(shard);
    }
    return absl::OkStatus();
  }

  // What was read, and what it hashed to.
  struct Filled {
    const StateEntry* entry;
    const IndexBox* box;
    std::string sha256;
  };
  absl::Status Compare(const Filled& filled) const {
    if (filled.sha256 == filled.box->sha256) return absl::OkStatus();
    return Damaged("bytes of " + filled.entry->name + " have changed",
                   filled.box->file);
  }

  // The part of the entry that lies in the box. A box is read and hashed whole.
  absl::Status Fill(StateEntry& entry, const IndexTensor& tensor,
                    const IndexBox& box) {
    const SafetensorsFile& shard = *shards_.at(box.file);
    const SafetensorsEntry* place = FindPlace(shard, box, tensor);
    if (place == nullptr) {
      return Damaged("index and shard disagree about " + entry.name, box.file);
    }
    const bool whole = entry.kind != StateKind::kBytes &&
                       entry.box_start == box.start &&
                       entry.box_shape == box.shape;
    std::string bytes;
    if (!whole) bytes.resize(box.size_bytes);
    void* target = whole ? entry.data : bytes.data();
    const std::span<std::byte> out(static_cast<std::byte*>(target),
                                   box.size_bytes);
    const absl::Status read = shard.ReadTensor(place->name, out);
    if (!read.ok()) return Damaged(std::string(read.message()), box.file);
    Filled filled = {&entry, &box, ""};
    if (whole) {  // the next one is read meanwhile
      filled_.push_back(std::move(filled));
      hashes_.Add(out, &filled_.back().sha256);
      return absl::OkStatus();
    }
    Sha256 sha256;
    sha256.Update(out);
    filled.sha256 = sha256.Hex();
    LS_RETURN_IF_ERROR(Compare(filled));
    if (entry.kind == StateKind::kBytes) {
      *entry.bytes = std::move(bytes);
    } else {
      CopyFromBox(box, bytes.data(), entry);
    }
    return absl::OkStatus();
  }

  FileSystem& file_system_;
  const std::string& dir_;
  const StateRegistry& registry_;
  const std::string free_object_;
  SaveRanks ranks_;
  std::vector<StateEntry> entries_;
  CheckpointIndex index_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> shards_;
  std::deque<Filled> filled_;  // a place of its own each
  BoxHashes hashes_;
};

}  // namespace

absl::StatusOr<CheckpointIndex> LoadCheckpoint(
    FileSystem& file_system, const std::string& checkpoint_dir,
    const StateRegistry& registry, const LoadOptions& options) {
  return Loader(file_system, checkpoint_dir, registry, options).Load();
}

}  // namespace lockstep
