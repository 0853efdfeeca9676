// The files of a checkpoint, opened for a load: those that its index names, as
// they were saved. Inside ckpt only.
#ifndef CKPT_LOAD_SHARDS_H_
#define CKPT_LOAD_SHARDS_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/safetensors.h"
#include "determinism/file_system.h"

namespace lockstep {

using LoadShards = std::map<std::string, std::unique_ptr<SafetensorsFile>>;

// NoUsableCheckpoint, of a file and what is wrong with it.
absl::Status DamagedFile(absl::string_view what, const std::string& path);

// By name. All others are compared whole. NoUsableCheckpoint for one that is
// not what was saved, or a link.
absl::StatusOr<LoadShards> OpenShards(FileSystem& file_system,
                                      const std::string& dir,
                                      const CheckpointIndex& index);

}  // namespace lockstep

#endif  // CKPT_LOAD_SHARDS_H_
