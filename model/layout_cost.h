// What one rank of a layout needs and says in a step, by formula.
//
// What it is: bytes of memory by class at the most, and calls and bytes by
// axis, of any rank of any layout, without allocating or starting one. What it
// is not: the choice or the check of a layout, time, or a measurement. Why so:
// the refusal of a step that cannot fit, the planner and the tests that hold
// both to the device's account must not have a formula each. LAYOUT_COST.md
// has the model in words and what it leaves out.
#ifndef LOCKSTEP_MODEL_LAYOUT_COST_H_
#define LOCKSTEP_MODEL_LAYOUT_COST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/activation_memory.h"
#include "model/config.h"
#include "model/cost_shape.h"
#include "model/tensor_traffic.h"
#include "parallel/pipeline_schedule.h"
#include "parallel/stage_balance.h"
#include "parallel/state_sharding.h"

namespace lockstep {

// Bytes that a rank has asked its device for, when it has asked for most.
struct RankMemory {
  double parameters = 0;     // masters, and run-time weights beside them
  double gradients = 0;      // sums, and final gradients beside them
  double state = 0;          // two moments of what it owns
  double activations = 0;    // of all micro-batches in flight, and working room
  double communication = 0;  // what is there to be exchanged

  double lasting() const { return parameters + gradients + state; }
  double total() const { return lasting() + activations + communication; }
};

struct RankTraffic {
  AxisTraffic data = {};
  AxisTraffic pipeline = {};
  AxisTraffic tensor = {};
};

// Which of the ranks with the same share of the tensor axis.
struct RankPlace {
  int64_t data_ranks = 1;
  // The pipeline and the micro-batches of the rank's replica, maybe none.
  PipelineShape schedule = {};
  int pipeline_rank = 0;
};

// Of the ranks with one share of the tensor axis. Index 0 has the most.
class TensorRankCosts {
 public:
  TensorRankCosts(const ModelConfig& model, const CostOptions& options,
                  int64_t degree, int64_t index = 0);

  // `stages`: of the whole model, as StagesOf (model_layout.h) cuts it.
  RankMemory Memory(const RankPlace& place,
                    const std::vector<StageRange>& stages) const;
  RankTraffic Traffic(const RankPlace& place,
                      const std::vector<StageRange>& stages) const;

 private:
  // Of all parameters that belong to one layer, to the embedding or the head.
  struct Held {
    double memory = 0;       // elements, padding included
    double low = 0;          // of it, of the storage dtype
    double owned = 0;        // elements without padding
    double largest_row = 0;  // elements
    double tensors = 0;
    double runtime_bytes = 0;  // without padding
    double token_sliced = 0, token_sliced_tensors = 0;
    void Add(const Held& more);
  };
  std::vector<size_t> Places(const RankPlace& place,
                             const std::vector<StageRange>& stages) const;
  Held HeldAt(const RankPlace& place,
              const std::vector<StageRange>& stages) const;
  double Buckets(const RankPlace& place,
                 const std::vector<StageRange>& stages) const;
  MemoryMoment InFlight(const RankPlace& place,
                        const std::vector<StageRange>& stages) const;

  std::vector<LayerKind> layers_;
  CostShape shape_;
  ActivationMemory activations_;
  // Of the embedding, each layer, the head.
  std::vector<Held> held_;
  std::vector<std::vector<ShardedTensor>> tensors_, sliced_tensors_;
  int64_t bucket_elements_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_LAYOUT_COST_H_
