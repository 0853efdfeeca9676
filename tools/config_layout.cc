#include "tools/config_layout.h"

namespace lockstep {

MeshShape MeshShapeOf(const RunConfig& config) {
  const ParallelConfig& p = config.parallel;
  return {.data = static_cast<int>(p.data.value_or(1)),
          .pipeline = static_cast<int>(p.pipeline),
          .tensor = static_cast<int>(p.tensor)};
}

absl::StatusOr<std::unique_ptr<LayoutGroups>> MakeLayout(
    Communicator* world, const RunConfig& config) {
  const MeshShape shape = MeshShapeOf(config);
  return MakeLayout(
      world, shape, static_cast<int>(config.parallel.interleave),
      AxisOptions(config.model, config.guarantee, config.grid.tensor,
                  shape.tensor, config.parallel.sequence));
}

}  // namespace lockstep
