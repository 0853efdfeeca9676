// The levels of the scan, for ssd_scan.cc and its test.
//
// An item of SsdForwardRange and SsdBackwardRange is (sample, group), group
// fastest: the heads of a group share C.B, and their db and dc are added in one
// place. An item of SsdLeafRange is a leaf.

#ifndef MODEL_KERNELS_SSD_SCAN_SSD_SCAN_KERNEL_H_
#define MODEL_KERNELS_SSD_SCAN_SSD_SCAN_KERNEL_H_

#include <cstdint>

#include "model/kernels/registry.h"
#include "model/kernels/ssd_scan/ssd_scan.h"

namespace lockstep {

struct SsdForwardArgs {
  SsdShape shape;
  SsdInputs in;
  SsdSaved saved;
  void* y;
  int64_t y_row_stride;
};

// Summands of the vector gradients, fp32 [batch, tokens, heads].
struct SsdTokenTerms {
  float* ddt_raw;  // before it is rounded to S
  float* dt_da;
  float* g_x;
};

struct SsdBackwardArgs {
  SsdShape shape;
  SsdInputs in;
  SsdSaved saved;
  const void* dy;
  int64_t dy_row_stride;
  SsdGradients out;
  SsdTokenTerms terms;
};

LS_DECLARE_KERNEL(SsdForwardRange, const SsdForwardArgs& args, int64_t begin,
                  int64_t end)
LS_DECLARE_KERNEL(SsdBackwardRange, const SsdBackwardArgs& args, int64_t begin,
                  int64_t end)
LS_DECLARE_KERNEL(SsdLeafRange, const SsdBackwardArgs& args, int64_t begin,
                  int64_t end)

}  // namespace lockstep

#endif  // MODEL_KERNELS_SSD_SCAN_SSD_SCAN_KERNEL_H_
