// The registry of state as a list of places in memory, for save and load.
//
// Pointers hold as long as the registry's objects stand and do not move their
// storage. Inside ckpt only.

#ifndef CKPT_STATE_ENTRIES_H_
#define CKPT_STATE_ENTRIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/checkpoint_index.h"
#include "determinism/dtype.h"
#include "determinism/state.h"

namespace lockstep {

struct StateEntry {
  std::string name;
  StateGroup group = StateGroup::kMaster;
  StateKind kind = StateKind::kTensor;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // unsharded
  std::vector<int64_t> box_start;
  std::vector<int64_t> box_shape;
  void* data = nullptr;          // the box; a scalar's place
  std::string* bytes = nullptr;  // for kBytes, whose length a load may change
  bool replica = false;          // another rank saves this box

  size_t size_bytes() const;  // of the box
};

// Of the given groups, sorted by name; a tensor with several boxes has as many
// entries, one after the other.
std::vector<StateEntry> CollectState(const StateRegistry& registry,
                                     StateGroupSet groups);

// What `rank` of a layout writes: its boxes with elements that no other rank
// writes, and on rank 0 all that stands on every rank.
std::vector<StateEntry> EntriesToSave(const StateRegistry& registry, int rank);

// "" or what no trained state can hold: a master or moment that is not finite,
// a second moment (`...exp_avg_sq`) below zero. Looks at bits, so the float
// environment does not matter.
std::string InsanityIn(const StateEntry& entry);
// The same in two steps, for who looks at parts: the place of the first such
// among the elements [begin, end) of the box, or -1; and what to say of it.
int64_t FirstInsanityIn(const StateEntry& entry, int64_t begin, int64_t end);
std::string InsanityText(const StateEntry& entry, int64_t at);

}  // namespace lockstep

#endif  // CKPT_STATE_ENTRIES_H_
