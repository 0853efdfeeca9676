// What of the model a rank of a layout has, as places and as boxes, without any
// memory.
//
// What it is: the stages, rows and shares that the layout gives to a
// coordinate, and from them the boxes of every parameter that a rank saves.
// What it is not: the memory (parameters.h) or a choice of a layout. Why so:
// the ranks of a run ask where they stand, and whoever writes another layout's
// checkpoint asks for all ranks at once, of a model that does not fit into one
// process; both must get one answer.
#ifndef LOCKSTEP_MODEL_PLACEMENT_H_
#define LOCKSTEP_MODEL_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/config.h"
#include "model/parameter_boxes.h"
#include "model/parameters.h"
#include "parallel/mesh.h"
#include "parallel/stage_balance.h"

namespace lockstep {

// What decides the boxes of a layout.
struct PlacedModel {
  ModelConfig config = {};
  int64_t tensor_grid = 1;  // grid.tensor
  int64_t tokens = 0;       // of a sample; balances the stages
  MeshShape shape = {};
  int interleave = 1;
};

// The vocabulary is padded to what grid and degree can cut (N4).
int64_t VocabularyCuts(int64_t tensor_grid, int64_t tensor_degree);

// The stages of a pipeline rank, by chunk. InputError as StagesOf has it.
absl::StatusOr<std::vector<StageRange>> StagesOfRank(const PlacedModel& model,
                                                     int pipeline_rank);

struct PlacedBox {
  std::string parameter = {};
  std::vector<int64_t> start = {};  // in the unsharded tensor
  std::vector<int64_t> shape = {};
};
// What each rank of the layout saves of the parameters, and of whatever is
// shared out as they are: by rank, in the order of parameters. Disjoint, and
// all together everything. That the layout fits the model is checked before.
absl::StatusOr<std::vector<std::vector<PlacedBox>>> SavedBoxesOf(
    const PlacedModel& model);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_PLACEMENT_H_
