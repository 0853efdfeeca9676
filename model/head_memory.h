// What the head takes of a rank's memory, by formula.
//
// What it is: the most that Head::LossesAndBackward has beside its input, and
// the cut that decides it. What it is not: the head (head_leaf.h), or what the
// last stage keeps besides (activation_memory.h).
#ifndef LOCKSTEP_MODEL_HEAD_MEMORY_H_
#define LOCKSTEP_MODEL_HEAD_MEMORY_H_

#include "model/cost_shape.h"
#include "model/head_cut.h"
#include "model/stream_memory.h"

namespace lockstep {

HeadCut HeadCutOf(const CostShape& shape);
MemoryMoment HeadMemory(const CostShape& shape);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_HEAD_MEMORY_H_
