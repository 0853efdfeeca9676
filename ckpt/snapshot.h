// The state of one moment as one rank saves it: bytes and fingerprints.
//
// What it is: where the bytes lie, and what each tensor's fingerprint was in
// live memory (N11). A copy is made in one pass: what is read once goes to
// both, so the two cannot be of different moments. What it is not: a file
// (shard_writer.h). Why so: a step that waits for the copy alone can go on
// while the copy is written. For whoever hands one from a copy to its save;
// what is in it is of ckpt alone.

#ifndef CKPT_SNAPSHOT_H_
#define CKPT_SNAPSHOT_H_

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/arrivals.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/moment_bound.h"
#include "ckpt/safetensors.h"
#include "ckpt/staging_memory.h"
#include "ckpt/state_entries.h"
#include "determinism/fingerprint.h"
#include "determinism/state.h"
#include "parallel/thread_pool.h"

namespace lockstep {

struct Snapshot {
  // What this rank saves, sorted by name; `data` is where the bytes are now.
  std::vector<StateEntry> entries;
  // All of the state, sorted by name, without fingerprints and boxes.
  std::vector<IndexTensor> tensors;
  // Masters and moments, and runtime weights: this rank's share, until a save
  // has added up those of all ranks.
  std::vector<TensorFingerprint> shared;
  std::vector<TensorFingerprint> runtime;
  // All other state, which stands on every rank.
  std::vector<TensorFingerprint> common;
  // The data of this rank's shard as they will lie in the file, from the
  // beginning of a page on; empty: the registry's objects have them.
  std::span<const std::byte> image;
  // When it becomes true, nobody wants this save any more.
  const std::atomic<bool>* given_up = nullptr;
};

// Of this rank's share of masters and moments, each record in the order of
// names: what StateTensorFingerprints has, by several threads and while boxes
// `arrive`. What no trained state can hold is found in the same pass
// (state_sanity.h) and added to `insanities`, by name. Nothing of it means
// anything where a box does not arrive.
std::vector<TensorFingerprint> ArrivingFingerprints(
    const StateRegistry& registry, ThreadPool& pool,
    const std::optional<MomentBound>& bound, Arrivals& arrivals,
    std::vector<std::string>& insanities);

// Without a copy: the state may not move before the save is done.
Snapshot LookAtState(const StateRegistry& registry, int rank);

// With one, in `memory`, which holds it until the next.
absl::StatusOr<Snapshot> CopyState(const StateRegistry& registry, int rank,
                                   ThreadPool& pool, StagingMemory& memory);

// Bytes that CopyState needs.
size_t CopyBytes(const StateRegistry& registry, int rank);

// The tensors of a shard with these entries. Names are distinct: further boxes
// of a tensor are numbered.
std::vector<SafetensorsSpec> ShardSpecs(const std::vector<StateEntry>& entries);

}  // namespace lockstep

#endif  // CKPT_SNAPSHOT_H_
