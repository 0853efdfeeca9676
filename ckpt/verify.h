// Does every byte of a checkpoint hold, and what is in it: `ckpt verify`,
// `ckpt list`, `ckpt show`.
//
// Reads files only; needs no model. Damage is a finding here and no error: the
// verb exits with 1, a resume falls back to an earlier checkpoint.

#ifndef CKPT_VERIFY_H_
#define CKPT_VERIFY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"

namespace lockstep {

struct Damage {
  std::string file;    // in the checkpoint's folder
  std::string tensor;  // "" where it is none's
  uint64_t from = 0;   // bytes in the file, the first
  uint64_t to = 0;     // and the one after the last
  std::string what;
};

struct VerifyResult {
  bool ok = false;
  std::vector<Damage> damage;  // by file and place
  CheckpointIndex index;       // empty if that is what is damaged
  std::string index_sha256;
  std::string Summary() const;  // the first few, one line
};

// A file that cannot be read, for whatever reason, is damaged; an error is only
// what keeps the others from being read too.
absl::StatusOr<VerifyResult> VerifyCheckpoint(
    FileSystem& file_system, const std::string& checkpoint_dir);

// {"ok", "damage": [{"file", "tensor", "from", "to", "what"}]}
std::string VerifyResultToJson(const VerifyResult& result);

struct ListedCheckpoint {
  std::string name;
  std::string dir;
  int64_t step = 0;
  bool complete = false;  // index, manifest and sizes; data are not read
  std::string why;        // not complete
  std::string run_id;
  uint64_t size_bytes = 0;
  int64_t shards = 0;
  int64_t saved_ms = 0;  // since 1970: of its index file
  bool pinned = false;   // retention leaves it (retention.h)
};

// By step; a run without checkpoints gives none.
absl::StatusOr<std::vector<ListedCheckpoint>> ListCheckpoints(
    FileSystem& file_system, const std::string& run_dir);
std::string ListToJson(const std::vector<ListedCheckpoint>& checkpoints);

// A table for people: header lines, then a line a tensor.
std::string ShowCheckpoint(const CheckpointIndex& index);

}  // namespace lockstep

#endif  // CKPT_VERIFY_H_
