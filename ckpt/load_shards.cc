#include "ckpt/load_shards.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::Status CheckPlainFile(FileSystem& file_system, const std::string& path,
                            const IndexFile& file) {
  const auto text = file_system.ReadFile(path);
  if (!text.ok()) return DamagedFile(text.status().message(), path);
  return Sha256Hex(*text) == file.sha256 ? absl::OkStatus()
                                         : DamagedFile("it has changed", path);
}

}  // namespace

absl::Status DamagedFile(absl::string_view what, const std::string& path) {
  return NoUsableCheckpoint(absl::StrCat("the checkpoint is damaged: ", what),
                            path, "use another checkpoint");
}

absl::StatusOr<LoadShards> OpenShards(FileSystem& file_system,
                                      const std::string& dir,
                                      const CheckpointIndex& index) {
  LoadShards shards;
  for (const auto& [name, file] : index.files) {
    const std::string path = JoinPath(dir, name);
    const auto info = file_system.Stat(path);
    if (info.ok() && info->is_link) return DamagedFile("it is a link", path);
    if (file.header_sha256.empty()) {
      LS_RETURN_IF_ERROR(CheckPlainFile(file_system, path, file));
      continue;
    }
    auto shard = SafetensorsFile::Open(file_system, path);
    if (!shard.ok()) return DamagedFile(shard.status().message(), path);
    if ((*shard)->header_sha256() != file.header_sha256 ||
        (*shard)->file_bytes() != file.size_bytes) {
      return DamagedFile("another file stands here than was saved", path);
    }
    shards[name] = *std::move(shard);
  }
  return shards;
}

}  // namespace lockstep
