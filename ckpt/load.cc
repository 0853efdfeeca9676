#include "ckpt/load.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/arrivals.h"
#include "ckpt/box_copy.h"
#include "ckpt/hashed_reads.h"
#include "ckpt/load_check.h"
#include "ckpt/load_look.h"
#include "ckpt/load_match.h"
#include "ckpt/load_shards.h"
#include "ckpt/safetensors.h"
#include "ckpt/save_ranks.h"
#include "ckpt/state_entries.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Of boxes that were cut otherwise, so much is in memory beside the state; one
// more if it is larger.
constexpr uint64_t kMostAsideBytes = uint64_t{256} << 20;

class Loader {
 public:
  Loader(FileSystem& file_system, const std::string& dir,
         const StateRegistry& registry, const LoadOptions& options)
      : file_system_(file_system),
        dir_(dir),
        registry_(registry),
        options_(options),
        ranks_(options.world),
        entries_(CollectState(registry, kSavedState)) {}

  absl::StatusOr<CheckpointIndex> Load() {
    LS_RETURN_IF_ERROR(ranks_.Agree(CheckSameIndex(ReadOwnIndex())));
    LS_RETURN_IF_ERROR(ranks_.Agree(FillAll()));
    LS_RETURN_IF_ERROR(
        CheckLoaded(registry_, index_, dir_, std::move(looked_at_), ranks_));
    return std::move(index_);
  }

 private:
  absl::Status ReadOwnIndex() {
    LS_ASSIGN_OR_RETURN(index_, ReadIndex(file_system_, dir_));
    return absl::OkStatus();
  }

  // A folder of one name may be another on another host: a disk of its own, or
  // a file server that is behind. What ranks have as copies no sum over them
  // would tell apart.
  absl::Status CheckSameIndex(const absl::Status& read) {
    const std::string mine =
        read.ok() ? Sha256Hex(IndexToJson(index_)) : std::string();
    LS_ASSIGN_OR_RETURN(const std::string first, ranks_.OfFirst(mine));
    if (!read.ok() || mine == first || first.empty()) return read;
    return NoUsableCheckpoint(
        "this rank sees another checkpoint here than the first rank: its index "
        "has SHA-256 " +
            mine + ", that of the first " + first,
        JoinPath(dir_, kIndexFile),
        "give all ranks one folder, and wait until all hosts see it alike");
  }

  absl::Status FillAll() {
    LS_RETURN_IF_ERROR(
        CheckMatch(entries_, index_, dir_, options_.free_object));
    LS_ASSIGN_OR_RETURN(shards_, OpenShards(file_system_, dir_, index_));
    Arrivals arrivals;
    LS_RETURN_IF_ERROR(
        ForEachBox([&](StateEntry& entry, const IndexTensor&, const IndexBox&) {
          arrivals.Expect(entry.data);
          return absl::OkStatus();
        }));
    LoadLook look(registry_, options_.moments, arrivals);
    arrivals_ = &arrivals;
    LS_RETURN_IF_ERROR(ForEachBox(
        [&](StateEntry& entry, const IndexTensor& tensor, const IndexBox& box) {
          return Ask(entry, tensor, box);
        }));
    LS_RETURN_IF_ERROR(ReadAsked());
    looked_at_ = look.Finish();
    return absl::OkStatus();
  }

  // That has a part of this rank's state.
  template <typename Function>
  absl::Status ForEachBox(const Function& function) {
    for (StateEntry& entry : entries_) {
      const IndexTensor* tensor = FindTensor(index_, entry.name);
      if (tensor == nullptr) continue;  // of the free object
      for (const IndexBox& box : tensor->boxes) {
        if (!Meets(entry, box)) continue;
        LS_RETURN_IF_ERROR(function(entry, *tensor, box));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Damaged(absl::string_view what, const std::string& file) const {
    return DamagedFile(what, JoinPath(dir_, file));
  }

  // A box that is to be read, whole, for the part of an entry that lies in it.
  struct Asked {
    StateEntry* entry;
    const IndexBox* box;
    bool whole;         // the box is the entry's: it goes where that stands
    std::string bytes;  // of another box
  };

  absl::Status Ask(StateEntry& entry, const IndexTensor& tensor,
                   const IndexBox& box) {
    if (FindPlace(*shards_.at(box.file), box, tensor) == nullptr) {
      return Damaged("index and shard disagree about " + entry.name, box.file);
    }
    const bool whole = entry.kind != StateKind::kBytes &&
                       entry.box_start == box.start &&
                       entry.box_shape == box.shape;
    asked_.push_back({&entry, &box, whole, ""});
    if (!whole) aside_bytes_ += box.size_bytes;
    return aside_bytes_ < kMostAsideBytes ? absl::OkStatus() : ReadAsked();
  }

  absl::Status ReadAsked() {
    std::vector<HashedRead> reads;
    for (Asked& asked : asked_) {
      const IndexBox& box = *asked.box;
      if (!asked.whole) asked.bytes.resize(box.size_bytes);
      void* const to = asked.whole ? asked.entry->data : asked.bytes.data();
      reads.push_back({&shards_.at(box.file)->file(), box.offset_bytes,
                       box.size_bytes, static_cast<std::byte*>(to)});
      if (!asked.whole) continue;
      reads.back().arrived = [this, to] { arrivals_->Arrived(to); };
    }
    ReadAndHash(reads, index_.hash_block_bytes);
    for (size_t i = 0; i < reads.size(); ++i) {
      if (reads[i].status.ok()) continue;
      return Damaged(reads[i].status.message(), asked_[i].box->file);
    }
    for (size_t i = 0; i < reads.size(); ++i) {
      LS_RETURN_IF_ERROR(Take(asked_[i], reads[i].tree));
    }
    asked_.clear();
    aside_bytes_ = 0;
    return absl::OkStatus();
  }

  absl::Status Take(Asked& asked, const HashTree& now) const {
    StateEntry& entry = *asked.entry;
    const IndexBox& box = *asked.box;
    const std::string changed =
        TextOf(ChangedBlocks(box.tree, now, box.offset_bytes, box.size_bytes,
                             index_.hash_block_bytes));
    if (!changed.empty()) {
      return Damaged(entry.name + " has changed: " + changed, box.file);
    }
    if (asked.whole) return absl::OkStatus();
    if (entry.kind == StateKind::kBytes) {
      *entry.bytes = std::move(asked.bytes);
    } else {
      CopyFromBox(box, asked.bytes.data(), entry);
    }
    arrivals_->Arrived(entry.data);
    return absl::OkStatus();
  }

  FileSystem& file_system_;
  const std::string& dir_;
  const StateRegistry& registry_;
  const LoadOptions options_;
  SaveRanks ranks_;
  std::vector<StateEntry> entries_;
  CheckpointIndex index_;
  LoadShards shards_;
  Arrivals* arrivals_ = nullptr;  // while it reads
  LookedAt looked_at_;
  std::vector<Asked> asked_;  // and not yet read
  uint64_t aside_bytes_ = 0;  // of them, what does not go to its place
};

}  // namespace

absl::StatusOr<CheckpointIndex> LoadCheckpoint(
    FileSystem& file_system, const std::string& checkpoint_dir,
    const StateRegistry& registry, const LoadOptions& options) {
  return Loader(file_system, checkpoint_dir, registry, options).Load();
}

}  // namespace lockstep
