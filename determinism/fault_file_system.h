// A file system whose calls break where a FaultPlan says so.
//
// Decorates another file system. Each call asks the plan at the point
//   save.<noun>.<create|write|flush|sync|close|rename|sync_dir|mkdir|remove>
//   load.<noun>.<open|read|map|list|stat>
// where the noun comes from the path by a function of the caller, for a rename
// from the new path (`save.index.rename`). `short_write` and `lost_write` mean
// something for `write` alone; a lost sync is a `lost_write` at `sync`. Not a
// crash model (memory_file_system.h is): what it lets through really happens.
// Exists and FreeBytes never break, since they cannot say why.

#ifndef DETERMINISM_FAULT_FILE_SYSTEM_H_
#define DETERMINISM_FAULT_FILE_SYSTEM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "determinism/fault.h"
#include "determinism/file_system.h"

namespace lockstep {

// The nouns of a run's folder; `x.tmp` and `.tmp-x` count as what they will be:
//   *.safetensors shard   index.json, *.index.json index   *manifest*.json
//   manifest   *.jsonl its stem (ledger, metrics, eval)   *.trace trace
//   *.bin, *.idx tokens   step_*, .tmp-step_* step   .old-step_* old_step (so
//   too .del-, .foreign-)   checkpoints, lock, ...: the base name up to the
//   first '.'
std::string RunFolderNoun(std::string_view path);

class FaultFileSystem : public FileSystem {
 public:
  using NounOf = std::function<std::string(std::string_view path)>;

  // Neither is owned.
  FaultFileSystem(FileSystem* base, FaultPlan* plan,
                  NounOf noun_of = RunFolderNoun);

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNew(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(
      const std::string& path) override;
  absl::StatusOr<std::string> ReadFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenRead(
      const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status SyncDir(const std::string& path) override;
  absl::Status MakeDirs(const std::string& path) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveTree(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& dir) override;
  bool Exists(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override;

 private:
  // The status that the plan wants of a call that can lose no data.
  absl::Status Pass(std::string_view direction, const std::string& path,
                    std::string_view call);
  absl::StatusOr<std::unique_ptr<WritableFile>> Wrap(
      absl::StatusOr<std::unique_ptr<WritableFile>> file,
      const std::string& path);

  FileSystem* const base_;
  FaultPlan* const plan_;
  const NounOf noun_of_;
};

}  // namespace lockstep

#endif  // DETERMINISM_FAULT_FILE_SYSTEM_H_
