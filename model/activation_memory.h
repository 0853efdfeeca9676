// What one micro-batch takes of a rank's memory, stage by stage, by formula.
//
// What it is: the bytes that a stage keeps from a micro-batch's forward to its
// backward, and the most that either pass has in memory, counted tensor by
// tensor as layer.cc, the mixers and head.cc ask their device for them. What
// it is not: parameters (layout_cost.h), what a transport or a kernel's
// threads borrow beside the device, or a measurement. Why so: nobody can
// afford to allocate a layout in order to learn that it does not fit.
// tests/plan/ holds these formulas to the device's own account: whoever adds a
// tensor to a layer adds it here, or that test fails.
#ifndef LOCKSTEP_MODEL_ACTIVATION_MEMORY_H_
#define LOCKSTEP_MODEL_ACTIVATION_MEMORY_H_

#include <vector>

#include "model/cost_shape.h"
#include "model/stream_memory.h"
#include "parallel/stage_balance.h"

namespace lockstep {

// Of one micro-batch; what it keeps itself is in its moments.
struct StageMemory {
  double kept = 0;
  MemoryMoment forward = {};   // at its most
  MemoryMoment backward = {};  // at its most
};

// `layers` of a model of `config.Layers()`; the first stage has the embedding,
// the last one the head.
class ActivationMemory {
 public:
  ActivationMemory(const CostShape& shape,
                   const std::vector<LayerKind>& layers);

  StageMemory OfStage(const StageRange& stage) const;

 private:
  CostShape shape_;
  std::vector<StageMemory> layers_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_ACTIVATION_MEMORY_H_
