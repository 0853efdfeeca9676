// One include and one line an operation, both sorted by name.

#include <vector>

#include "model/kernels/adamw/adamw.h"
#include "model/kernels/attention/attention.h"
#include "model/kernels/cast/cast.h"
#include "model/kernels/conv1d_silu/conv1d_silu.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/embedding/embedding.h"
#include "model/kernels/gated_norm/gated_norm.h"
#include "model/kernels/grad_finalize/grad_finalize.h"
#include "model/kernels/grid_accumulate/grid_accumulate.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/registry.h"
#include "model/kernels/residual_dropout/residual_dropout.h"
#include "model/kernels/rms_norm/rms_norm.h"
#include "model/kernels/slice_tree/slice_tree.h"
#include "model/kernels/squared_relu/squared_relu.h"
#include "model/kernels/ssd_scan/ssd_scan.h"

namespace lockstep {

std::vector<KernelInfo> AllKernels() {
  return {
      AdamWInfo(),      AttentionInfo(),       CastInfo(),
      Conv1dSiluInfo(), CrossEntropyInfo(),    EmbeddingInfo(),
      GatedNormInfo(),  GradFinalizeInfo(),    GridAccumulateInfo(),
      MatmulInfo(),     ResidualDropoutInfo(), RmsNormInfo(),
      SliceTreeInfo(),  SquaredReluInfo(),     SsdScanInfo(),
  };
}

}  // namespace lockstep
