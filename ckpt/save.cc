#include "ckpt/save.h"

#include <utility>

#include "ckpt/checkpoint_writer.h"
#include "ckpt/disk_space.h"
#include "ckpt/folder_names.h"
#include "ckpt/run_lock.h"
#include "ckpt/save_ranks.h"
#include "ckpt/shard_writer.h"
#include "ckpt/snapshot.h"
#include "ckpt/state_entries.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// What index, manifest and folders may take beyond the tensors.
constexpr uint64_t kSlackBytes = 64 << 10;
constexpr uint64_t kIndexBytesPerTensor = 1 << 10;
constexpr uint64_t kIndexBytesPerBlock = 128;

int64_t BytesOf(const std::vector<StateEntry>& entries) {
  uint64_t bytes = 0;
  for (const StateEntry& entry : entries) {
    bytes +=
        entry.size_bytes() + kIndexBytesPerTensor +
        BlocksOf(entry.size_bytes(), kHashBlockBytes) * kIndexBytesPerBlock;
  }
  return static_cast<int64_t>(bytes);
}

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
    const absl::Status synced = file_system_.SyncDir(parent_);
    if (synced.ok()) return aside;
    file_system_.Rename(aside, final_).IgnoreError();
    return synced;
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

absl::StatusOr<SavedCheckpoint> SaveSnapshot(FileSystem& file_system,
                                             const SaveOptions& options,
                                             Snapshot& snapshot) {
  LS_CHECK_GE(options.step, 0);
  Committer committer(file_system, options);
  const std::string temp = committer.PathOf(kTempPrefix);
  const ShardTask task = {temp, options.step, options.run_id};
  SaveRanks ranks(options.world);
  LS_RETURN_IF_ERROR(ranks.Announce(task));
  LS_ASSIGN_OR_RETURN(const int64_t bytes,
                      ranks.Total(BytesOf(snapshot.entries)));
  CheckpointWriter writer(file_system, options, task, snapshot);
  absl::Status ready = MakeParent(file_system, options.run_dir);
  if (ready.ok()) {
    ready = CheckSpace(file_system, options.run_dir,
                       kSlackBytes + options.manifest_json.size() +
                           static_cast<uint64_t>(bytes));
  }
  if (ready.ok()) ready = writer.MakeFolder();
  ready = ranks.Agree(ready);
  absl::Status status = ready.ok() ? writer.Write(ranks) : ready;
  if (status.ok()) status = committer.Commit();
  if (ready.ok()) status = ranks.Agree(status);
  if (!status.ok()) {
    file_system.RemoveTree(temp).IgnoreError();
    return status;
  }
  return SavedCheckpoint{committer.final_path(), std::move(writer.index()),
                         writer.size_bytes()};
}

absl::Status JoinSnapshot(FileSystem& file_system, Communicator& world,
                          Snapshot& snapshot) {
  SaveRanks ranks(&world);
  LS_ASSIGN_OR_RETURN(const ShardTask task, ranks.Hear());
  LS_RETURN_IF_ERROR(ranks.Total(BytesOf(snapshot.entries)).status());
  LS_RETURN_IF_ERROR(ranks.Agree(absl::OkStatus()));
  return ranks.Agree(WriteShards(file_system, task, snapshot, ranks).status());
}

absl::StatusOr<SavedCheckpoint> SaveCheckpoint(FileSystem& file_system,
                                               const SaveOptions& options,
                                               const StateRegistry& registry) {
  Snapshot snapshot = LookAtState(registry, 0);
  return SaveSnapshot(file_system, options, snapshot);
}

absl::Status JoinSave(FileSystem& file_system, Communicator& world,
                      const StateRegistry& registry) {
  Snapshot snapshot = LookAtState(registry, world.rank());
  return JoinSnapshot(file_system, world, snapshot);
}

}  // namespace lockstep
