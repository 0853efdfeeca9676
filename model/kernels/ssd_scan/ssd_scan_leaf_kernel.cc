#include <cstdint>

#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/ssd_scan/ssd_scan_kernel.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

void SsdLeafRange(const SsdBackwardArgs& args, int64_t begin, int64_t end) {
  const int64_t heads = args.shape.heads;
  const int64_t rows = args.out.samples_per_leaf * args.shape.tokens;
  for (int64_t leaf = begin; leaf < end; ++leaf) {
    const int64_t from = leaf * rows * heads;
    float* da_log = args.out.da_log + leaf * heads;
    OrderedColumnSum(args.terms.ddt_raw + from, rows, heads, heads,
                     args.out.ddt_bias + leaf * heads);
    OrderedColumnSum(args.terms.g_x + from, rows, heads, heads,
                     args.out.dd + leaf * heads);
    OrderedColumnSum(args.terms.dt_da + from, rows, heads, heads, da_log);
    for (int64_t h = 0; h < heads; ++h) {
      da_log[h] = -math::Exp(args.in.a_log[h]) * da_log[h];
    }
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
