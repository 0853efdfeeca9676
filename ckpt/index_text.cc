#include "ckpt/index_text.h"

#include "ckpt/bounded_read.h"
#include "ckpt/checkpoint_index.h"

namespace lockstep {
namespace {

absl::Status RefuseLink(FileSystem& file_system, const std::string& path,
                        const std::string& what) {
  const absl::StatusOr<FileInfo> info = file_system.Stat(path);
  if (!info.ok() || !info->is_link) return absl::OkStatus();
  return absl::DataLossError(what + " is a symbolic link\n  where: " + path +
                             "\n  do: put the files themselves there; "
                             "checkpoints/ as a whole may be a link");
}

}  // namespace

absl::StatusOr<std::string> ReadIndexText(FileSystem& file_system,
                                          const std::string& checkpoint_dir) {
  // A name that a person gave, as "best", may point to a checkpoint.
  if (StepOfCheckpointName(BaseName(checkpoint_dir)) >= 0) {
    const absl::Status plain =
        RefuseLink(file_system, checkpoint_dir, "the checkpoint's folder");
    if (!plain.ok()) return plain;
  }
  const std::string path = JoinPath(checkpoint_dir, kIndexFile);
  const absl::Status plain = RefuseLink(file_system, path, "the index");
  if (!plain.ok()) return plain;
  return ReadBounded(file_system, path, kMostJsonBytes);
}

}  // namespace lockstep
