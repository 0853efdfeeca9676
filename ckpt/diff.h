// Which tensors of two checkpoints differ, and how: `ckpt diff`.
//
// Both are verified, and then read side by side, whatever boxes they lie in, in
// parts of bounded size, for the first place, the number of places and the
// greatest distance. What is read is held against the index on the way, so that
// no damage is called equal. Runtime weights are in no file: the indices say
// which of those differ. Needs no model. Not a verdict about runs.

#ifndef CKPT_DIFF_H_
#define CKPT_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"

namespace lockstep {

struct TensorDifference {
  std::string name = {};
  std::string what = {};  // "only in A", "only in B", "dtype", "shape",
                          // "contents", "runtime weights"
  std::string a = {};     // of both: what is there, as text
  std::string b = {};
  // Of "contents":
  bool bytes = false;  // of no number: `a` and `b` are their first, in hex
  int64_t elements = 0;
  int64_t different = 0;
  std::vector<int64_t> first = {};  // coordinate
  // The most representable numbers between two values at one place; of integers
  // their distance. NaNs count from where their bits stand. -0 and 0 differ and
  // are 0 apart.
  uint64_t max_ulp = 0;
};

// By the indices alone: nothing is read. Sorted by name; empty: the same state.
std::vector<TensorDifference> DiffIndices(const CheckpointIndex& a,
                                          const CheckpointIndex& b);

struct CheckpointDiff {
  CheckpointIndex a, b;
  bool quick = false;  // what has equal fingerprints was not read
  std::vector<TensorDifference> differences;
};

// NoUsableCheckpoint: an index, or bytes that are not what it says. `quick`
// believes the indices and reads only where they differ: a tensor's fingerprint
// does not know its layout. Damage to what has equal ones does not show then.
absl::StatusOr<CheckpointDiff> DiffCheckpoints(FileSystem& file_system,
                                               const std::string& dir_a,
                                               const std::string& dir_b,
                                               bool quick = false);

std::string DiffToText(const CheckpointDiff& diff);
// {"equal", "quick", "a": {"step", "run_id", "state"}, "b", "tensors",
// "differences": [{"name", "what", "a", "b", "elements", "different", "first",
// "max_ulp"}]}
std::string DiffToJson(const CheckpointDiff& diff);

}  // namespace lockstep

#endif  // CKPT_DIFF_H_
