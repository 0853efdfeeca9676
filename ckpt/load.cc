#include "ckpt/load.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ckpt/safetensors.h"
#include "ckpt/state_entries.h"
#include "determinism/nearest.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kComplaintsShown = 8;

// A list of complaints becomes one status.
class Complaints {
 public:
  void Add(std::string text) { list_.push_back(std::move(text)); }

  absl::Status Status(const std::string& what, const std::string& where,
                      const std::string& todo) const {
    if (list_.empty()) return absl::OkStatus();
    std::string text = what;
    for (size_t i = 0; i < std::min(list_.size(), kComplaintsShown); ++i) {
      text += "\n    " + list_[i];
    }
    if (list_.size() > kComplaintsShown) {
      text += "\n    and " + std::to_string(list_.size() - kComplaintsShown) +
              " more";
    }
    return NoUsableCheckpoint(text, where, todo);
  }

 private:
  std::vector<std::string> list_;
};

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(shape[d]);
  }
  return text + "]";
}

std::string TypeText(StateKind kind, DType dtype,
                     const std::vector<int64_t>& shape) {
  return std::string(NameOf(kind)) + " " + NameOf(dtype) + " " +
         ShapeText(shape);
}

class Loader {
 public:
  Loader(FileSystem& file_system, const std::string& dir,
         const StateRegistry& registry)
      : file_system_(file_system),
        dir_(dir),
        registry_(registry),
        entries_(CollectState(registry, kSavedState)) {}

  absl::StatusOr<CheckpointIndex> Load() {
    LS_ASSIGN_OR_RETURN(index_, ReadIndex(file_system_, dir_));
    LS_RETURN_IF_ERROR(CheckMatch());
    LS_RETURN_IF_ERROR(OpenShards());
    for (StateEntry& entry : entries_) {
      LS_RETURN_IF_ERROR(Fill(entry, *TensorOf(entry.name)));
    }
    LS_RETURN_IF_ERROR(CheckMemory());
    return std::move(index_);
  }

 private:
  absl::Status Damaged(const std::string& what, const std::string& file) const {
    return NoUsableCheckpoint("the checkpoint is damaged: " + what,
                              JoinPath(dir_, file), "use another checkpoint");
  }

  const IndexTensor* TensorOf(const std::string& name) const {
    const auto found = std::lower_bound(
        index_.tensors.begin(), index_.tensors.end(), name,
        [](const IndexTensor& t, const std::string& n) { return t.name < n; });
    return found == index_.tensors.end() || found->name != name ? nullptr
                                                                : &*found;
  }

  // Names, types, shapes and boxes, before anything is written.
  absl::Status CheckMatch() const {
    Complaints complaints;
    std::vector<std::string_view> in_program, in_checkpoint;
    for (const StateEntry& entry : entries_) in_program.push_back(entry.name);
    for (const IndexTensor& t : index_.tensors) {
      in_checkpoint.push_back(t.name);
    }
    for (const StateEntry& entry : entries_) {
      const IndexTensor* tensor = TensorOf(entry.name);
      if (tensor == nullptr) {
        complaints.Add("the checkpoint lacks " + entry.name + "; nearest: " +
                       std::string(NearestName(entry.name, in_checkpoint)));
      } else {
        CheckEntry(entry, *tensor, complaints);
      }
    }
    for (const IndexTensor& tensor : index_.tensors) {
      if (!std::binary_search(in_program.begin(), in_program.end(),
                              tensor.name)) {
        complaints.Add(
            "the program has no place for " + tensor.name +
            "; nearest: " + std::string(NearestName(tensor.name, in_program)));
      }
    }
    return complaints.Status(
        "the checkpoint does not fit this program's state:", dir_,
        "run it with the recipe and the build that it was saved with");
  }

  void CheckEntry(const StateEntry& entry, const IndexTensor& tensor,
                  Complaints& complaints) const {
    const bool length_free = entry.kind == StateKind::kBytes;
    if (entry.kind != tensor.kind || entry.dtype != tensor.dtype ||
        (!length_free && entry.shape != tensor.shape)) {
      complaints.Add(entry.name + " is " +
                     TypeText(tensor.kind, tensor.dtype, tensor.shape) +
                     " in the checkpoint and " +
                     TypeText(entry.kind, entry.dtype, entry.shape) +
                     " in the program; nothing is converted");
    } else if (!length_free && BoxOf(entry, tensor) == nullptr) {
      complaints.Add(entry.name + " is cut for another layout; loading that " +
                     "is not built yet");
    }
  }

  // Null if no box is exactly the entry's.
  const IndexBox* BoxOf(const StateEntry& entry,
                        const IndexTensor& tensor) const {
    if (entry.kind == StateKind::kBytes) return &tensor.boxes.front();
    for (const IndexBox& box : tensor.boxes) {
      if (box.start == entry.box_start && box.shape == entry.box_shape) {
        return &box;
      }
    }
    return nullptr;
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

  absl::Status Fill(StateEntry& entry, const IndexTensor& tensor) {
    const IndexBox& box = *BoxOf(entry, tensor);
    const SafetensorsFile& shard = *shards_.at(box.file);
    const SafetensorsEntry* place = shard.Find(entry.name);
    if (place == nullptr || place->offset_bytes != box.offset_bytes ||
        place->dtype != tensor.dtype || place->shape != box.shape) {
      return Damaged("index and shard disagree about " + entry.name, box.file);
    }
    std::string bytes;
    void* target = entry.data;
    if (entry.kind == StateKind::kBytes) {
      bytes.resize(box.size_bytes);
      target = bytes.data();
    }
    const std::span<std::byte> out(static_cast<std::byte*>(target),
                                   box.size_bytes);
    const absl::Status read = shard.ReadTensor(entry.name, out);
    if (!read.ok()) return Damaged(std::string(read.message()), box.file);
    Sha256 sha256;
    sha256.Update(out);
    if (sha256.Hex() != box.sha256) {
      return Damaged("bytes of " + entry.name + " have changed", box.file);
    }
    if (entry.kind == StateKind::kBytes) *entry.bytes = std::move(bytes);
    return absl::OkStatus();
  }

  // What memory holds now is what the saver's memory held.
  absl::Status CheckMemory() const {
    Complaints complaints;
    const std::vector<TensorFingerprint> loaded =
        StateTensorFingerprints(registry_, kSavedState);
    for (const TensorFingerprint& t : loaded) {
      const IndexTensor* tensor = TensorOf(t.name);
      if (tensor == nullptr || tensor->fingerprint != t.value.Hex()) {
        complaints.Add(t.name + " has fingerprint " + t.value.Hex() +
                       ", saved " +
                       (tensor == nullptr ? "nothing" : tensor->fingerprint));
      }
    }
    if (FieldFingerprint(loaded) != index_.state_fingerprint) {
      complaints.Add("the state as a whole is not the one that was saved");
    }
    // The list was made before bytes found their length.
    for (const StateEntry& entry : CollectState(registry_, kSavedState)) {
      const std::string insanity = InsanityIn(entry);
      if (!insanity.empty()) complaints.Add(insanity);
    }
    return complaints.Status("the loaded state is not what was saved:", dir_,
                             "use another checkpoint, and check the memory of "
                             "the machine that saved it");
  }

  FileSystem& file_system_;
  const std::string& dir_;
  const StateRegistry& registry_;
  std::vector<StateEntry> entries_;
  CheckpointIndex index_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> shards_;
};

}  // namespace

absl::StatusOr<CheckpointIndex> LoadCheckpoint(
    FileSystem& file_system, const std::string& checkpoint_dir,
    const StateRegistry& registry) {
  return Loader(file_system, checkpoint_dir, registry).Load();
}

absl::Status CheckRuntimeFingerprint(const StateRegistry& registry,
                                     const CheckpointIndex& index) {
  const std::vector<TensorFingerprint> now =
      StateTensorFingerprints(registry, SetOf(StateGroup::kRuntime));
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
