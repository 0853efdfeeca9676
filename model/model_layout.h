// Where one rank of a layout stands, and whom it talks to.
//
// What it is: the degrees, this rank's coordinate, and the communicators of its
// axes: all that the model, the optimizer and the step know of other ranks.
// What it is not: a choice or a check of a layout (tools/layout_check.h), or a
// transport. Why so: a rank of one is not a special case; its communicators
// have one rank each, so what tests run on many is what runs alone.
#ifndef LOCKSTEP_MODEL_MODEL_LAYOUT_H_
#define LOCKSTEP_MODEL_MODEL_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/guarantee.h"
#include "model/config.h"
#include "model/tensor_axis.h"
#include "parallel/communicator.h"
#include "parallel/mesh.h"
#include "parallel/stage_balance.h"

namespace lockstep {

// Communicators are not owned and outlive whoever is given the layout.
struct ModelLayout {
  MeshShape shape = {};
  MeshCoordinate at = {};
  int interleave = 1;  // chunks of the model a pipeline rank holds
  bool sequence_parallel = false;
  Communicator* world = nullptr;
  Communicator* data = nullptr;
  Communicator* pipeline = nullptr;
  Communicator* tensor = nullptr;
  TensorAxis* axis = nullptr;  // null: a tensor degree of 1

  bool first_rank() const { return world->rank() == 0; }
  // This rank has the losses of its replica's samples, and no other one counts
  // them.
  bool counts_losses() const {
    return at.pipeline == shape.pipeline - 1 && at.tensor == 0;
  }
};

// Of a world of one rank.
ModelLayout LayoutOfOne(Communicator* world);

// A rank's communicators along its axes.
struct LayoutGroups {
  ModelLayout layout = {};
  std::unique_ptr<Communicator> data = {};
  std::unique_ptr<Communicator> pipeline = {};
  std::unique_ptr<Communicator> tensor = {};
  std::unique_ptr<TensorAxis> axis = {};
};
// Collective. `world` is not owned. InputError unless the degrees make up the
// world.
absl::StatusOr<std::unique_ptr<LayoutGroups>> MakeLayout(
    Communicator* world, const MeshShape& shape, int interleave,
    const TensorAxisOptions& options);

// Slices are the grid's in `layout_invariant`, whatever the degree, and one a
// rank elsewhere.
TensorAxisOptions AxisOptions(const ModelConfig& config, Guarantee guarantee,
                              int64_t grid, int degree, bool sequence_parallel);

// The layers of every stage of the pipeline, in model order: as the pattern's
// cuts say, or, without any, balanced by the FLOPs of a sample. InputError when
// there are more stages than layers or the cuts make another number of them.
absl::StatusOr<std::vector<StageRange>> StagesOf(const ModelConfig& config,
                                                 int64_t tokens, int stages);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_MODEL_LAYOUT_H_
