#include "tests/layout_matrix/matrix_model.h"

namespace lockstep {
namespace {

bool StagesFit(const MatrixModel& model, int pipeline, int interleave) {
  const int stages = pipeline * interleave;
  if (interleave > 1 && pipeline == 1) return false;
  if (stages > model.layers) return false;
  return model.cuts == 1 || stages == 1 || stages == model.cuts;
}

}  // namespace

const std::vector<MatrixModel>& MatrixModels() {
  static const auto& models = *new std::vector<MatrixModel>{
      {"hybrid",
       8,
       1,
       {"model.pattern=M-M*-M*-", "model.hidden=16", "model.kv_heads=1",
        "model.head_dim=4", "model.chunk=8"}},
      {"cut in four",
       6,
       4,
       {"model.pattern=M-|*|-M|*", "model.hidden=20", "model.kv_heads=2",
        "model.head_dim=6", "model.vocab=301", "model.state=6"}},
      {"cut in two",
       4,
       2,
       {"model.pattern=M|-*M", "model.hidden=12", "model.kv_heads=4",
        "model.head_dim=4", "model.vocab=515", "model.mamba_heads=8"}},
      {"attention",
       8,
       1,
       {"model.pattern=*-*-*-*-", "model.hidden=24", "model.kv_heads=1",
        "model.head_dim=12", "model.vocab=259", "data.sequence=64"}},
      {"mamba",
       3,
       1,
       {"model.pattern=MMM", "model.hidden=20", "model.mamba_head_dim=10",
        "model.state=9", "model.vocab=261"}}};
  return models;
}

bool SomeModelFits(const std::string& name, int pipeline, int interleave) {
  for (const MatrixModel& model : MatrixModels()) {
    if (!name.empty() && name != model.name) continue;
    for (const int chunks : {1, 2}) {
      if (interleave != 0 && interleave != chunks) continue;
      if (StagesFit(model, pipeline, chunks)) return true;
    }
  }
  return false;
}

}  // namespace lockstep
