// From the boxes of a checkpoint to the boxes of a rank, whatever either layout
// was. Inside ckpt only.

#ifndef CKPT_BOX_COPY_H_
#define CKPT_BOX_COPY_H_

#include "ckpt/checkpoint_index.h"
#include "ckpt/safetensors.h"
#include "ckpt/state_entries.h"

namespace lockstep {

// Whether they share elements; bytes have one box, of another length perhaps.
bool Meets(const StateEntry& entry, const IndexBox& box);

// Where the shard has the box; null if it is another than the index says. A
// further box of a tensor has a number behind its name.
const SafetensorsEntry* FindPlace(const SafetensorsFile& shard,
                                  const IndexBox& box,
                                  const IndexTensor& tensor);

// Copies what the entry's box and `box`, whose elements are `bytes`, share.
// They meet, and have a dim at least.
void CopyFromBox(const IndexBox& box, const char* bytes, StateEntry& entry);

}  // namespace lockstep

#endif  // CKPT_BOX_COPY_H_
