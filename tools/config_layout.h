// A recipe's layout as ranks: the mesh that `[parallel]` asks for, and a rank's
// place and groups in it.
//
// What it is: what whoever makes steppers of a RunConfig needs first. What it
// is not: the rules of layouts (model/model_layout.h), or a check that a recipe
// fits one (layout_check.h). Why so: trainer, replay, tax and plan must read
// the same section in the same way.
#ifndef LOCKSTEP_TOOLS_CONFIG_LAYOUT_H_
#define LOCKSTEP_TOOLS_CONFIG_LAYOUT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/model_layout.h"
#include "parallel/communicator.h"
#include "parallel/mesh.h"
#include "tools/run_config.h"

namespace lockstep {

// One replica where the recipe leaves their number to the world.
MeshShape MeshShapeOf(const RunConfig& config);

// Collective. `world` is not owned. InputError unless the degrees make up the
// world.
absl::StatusOr<std::unique_ptr<LayoutGroups>> MakeLayout(
    Communicator* world, const RunConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_CONFIG_LAYOUT_H_
