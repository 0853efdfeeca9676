#include "ckpt/load.h"

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ckpt/box_copy.h"
#include "ckpt/complaints.h"
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
    LS_RETURN_IF_ERROR(CheckMemory());
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
    Sha256 sha256;
    sha256.Update(out);
    if (sha256.Hex() != box.sha256) {
      return Damaged("bytes of " + entry.name + " have changed", box.file);
    }
    if (entry.kind == StateKind::kBytes) {
      *entry.bytes = std::move(bytes);
    } else if (!whole) {
      CopyFromBox(box, bytes.data(), entry);
    }
    return absl::OkStatus();
  }

  // What memory holds now is what the saver's memory held.
  absl::Status CheckMemory() {
    Complaints complaints;
    LS_ASSIGN_OR_RETURN(const std::vector<TensorFingerprint> loaded,
                        ranks_.Whole(registry_, kSavedState));
    bool all = loaded.size() == index_.tensors.size();
    for (const TensorFingerprint& t : loaded) {
      const IndexTensor* tensor = FindTensor(index_, t.name);
      all = all && tensor != nullptr;
      if (tensor != nullptr && tensor->fingerprint != t.value.Hex()) {
        complaints.Add(t.name + " has fingerprint " + t.value.Hex() +
                       ", saved " + tensor->fingerprint);
      }
    }
    if (all && FieldFingerprint(loaded) != index_.state_fingerprint) {
      complaints.Add("the state as a whole is not the one that was saved");
    }
    // The list was made before bytes found their length.
    for (const StateEntry& entry : CollectState(registry_, kSavedState)) {
      const std::string insanity = InsanityIn(entry);
      if (!insanity.empty()) complaints.Add(insanity);
    }
    return ranks_.Agree(
        complaints.Status("the loaded state is not what was saved:", dir_,
                          "use another checkpoint, and check the memory of "
                          "the machine that saved it"));
  }

  FileSystem& file_system_;
  const std::string& dir_;
  const StateRegistry& registry_;
  const std::string free_object_;
  SaveRanks ranks_;
  std::vector<StateEntry> entries_;
  CheckpointIndex index_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> shards_;
};

}  // namespace

absl::StatusOr<CheckpointIndex> LoadCheckpoint(
    FileSystem& file_system, const std::string& checkpoint_dir,
    const StateRegistry& registry, const LoadOptions& options) {
  return Loader(file_system, checkpoint_dir, registry, options).Load();
}

absl::Status CheckRuntimeFingerprint(const StateRegistry& registry,
                                     const CheckpointIndex& index,
                                     Communicator* world) {
  LS_ASSIGN_OR_RETURN(
      const std::vector<TensorFingerprint> now,
      SaveRanks(world).Whole(registry, SetOf(StateGroup::kRuntime)));
  if (FieldFingerprint(now) == index.runtime_fingerprint) {
    return absl::OkStatus();
  }
  std::map<std::string, std::string> saved;
  for (const IndexRuntime& t : index.runtime) saved[t.name] = t.fingerprint;
  Complaints complaints;
  for (const TensorFingerprint& t : now) {
    const std::string was = saved.contains(t.name) ? saved[t.name] : "nothing";
    if (was != t.value.Hex()) {
      complaints.Add(t.name + " has fingerprint " + t.value.Hex() + ", saved " +
                     was);
    }
    saved.erase(t.name);
  }
  for (const auto& [name, fingerprint] : saved) {
    complaints.Add(name + " was saved and is not in this program");
  }
  complaints.Add("all together: saved " + index.runtime_fingerprint + ", now " +
                 FieldFingerprint(now));
  return complaints.Status(
      "the runtime weights made from the masters are not those of the run "
      "(N10):",
      "step " + std::to_string(index.step),
      "use the build and the precision that the checkpoint was saved with");
}

}  // namespace lockstep
