// The index of a checkpoint: every tensor, which file its boxes lie in, and
// what each byte hashes to.
//
// A checkpoint is complete if and only if its folder has its final name and
// this file's seal holds. A tensor is a list of boxes, so that one written by
// one rank and one written by many read alike. Together with the header hashes
// of the shards, the boxes' hash trees (hash_tree.h) cover every byte of the
// folder. Not the data: those lie in safetensors files.

#ifndef CKPT_CHECKPOINT_INDEX_H_
#define CKPT_CHECKPOINT_INDEX_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/hash_tree.h"
#include "determinism/dtype.h"
#include "determinism/file_system.h"
#include "determinism/fingerprint.h"
#include "determinism/state.h"

namespace lockstep {

// How an entry of the registry was visited; on disk all are tensors, scalars of
// shape [1], bytes U8 of shape [n].
enum class StateKind : uint8_t { kTensor, kU64, kI64, kF64, kBytes };
const char* NameOf(StateKind kind);

struct IndexBox {
  std::vector<int64_t> start;  // in the unsharded tensor
  std::vector<int64_t> shape;
  std::string file;  // in the checkpoint's folder
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
  HashTree tree = {};
};

struct IndexTensor {
  std::string name;
  StateGroup group = StateGroup::kMaster;
  StateKind kind = StateKind::kTensor;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // unsharded
  std::string fingerprint;     // N11, 32 hex, taken from live memory
  std::vector<IndexBox> boxes;
};

struct IndexFile {
  uint64_t size_bytes = 0;
  std::string sha256;         // whole file; "" for a shard
  uint64_t header_bytes = 0;  // of a shard
  std::string header_sha256;  // of a shard
};

// A runtime tensor: derived, so not saved, but its fingerprint is (N10).
struct IndexRuntime {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::string fingerprint;
};

struct CheckpointIndex {
  // 1: without blocks.
  static constexpr int64_t kFormatVersion = 2;

  int64_t format_version = kFormatVersion;
  uint64_t hash_block_bytes = kHashBlockBytes;  // 0: a box has one hash
  int64_t step = 0;
  std::string run_id;
  int64_t generation = 0;  // of the lock it was committed under; 0: none
  std::string ledger_head;
  std::string state_fingerprint;           // StateFingerprint(kSavedState)
  std::string runtime_fingerprint;         // StateFingerprint(kRuntime)
  std::map<std::string, IndexFile> files;  // all but the index itself
  std::vector<IndexTensor> tensors;        // sorted by name
  std::vector<IndexRuntime> runtime;       // sorted by name
};

std::string IndexToJson(const CheckpointIndex& index);

// DataLoss for anything but a whole, unharmed and consistent index; `where`
// names the file. Boxes are checked to lie in their tensors and cover them.
absl::StatusOr<CheckpointIndex> IndexFromJson(std::string_view text,
                                              std::string_view where);

// index.json of the folder.
absl::StatusOr<CheckpointIndex> ReadIndex(FileSystem& file_system,
                                          const std::string& checkpoint_dir);

// "step_00000100"; steps of more digits keep all of them.
std::string CheckpointName(int64_t step);
// The step of such a name, or -1.
int64_t StepOfCheckpointName(std::string_view name);
// RUN/checkpoints.
std::string CheckpointsDir(const std::string& run_dir);

inline constexpr char kIndexFile[] = "index.json";
inline constexpr char kManifestFile[] = "manifest.json";

}  // namespace lockstep

#endif  // CKPT_CHECKPOINT_INDEX_H_
