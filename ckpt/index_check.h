// Does an index make sense in itself? Inside ckpt only.

#ifndef CKPT_INDEX_CHECK_H_
#define CKPT_INDEX_CHECK_H_

#include <string>

#include "ckpt/checkpoint_index.h"

namespace lockstep {

// "" or what is wrong: names out of order, boxes that leave their tensor, leave
// it uncovered or overlap, sizes that do not fit, files that are not named or
// lie elsewhere, bytes of a shard that belong to no tensor, kinds with a type
// or shape of another, blocks of no or of absurd size.
std::string ContradictionIn(const CheckpointIndex& index);

}  // namespace lockstep

#endif  // CKPT_INDEX_CHECK_H_
