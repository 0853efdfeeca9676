// The register peak of this machine: what `mfu` divides by.
//
// What it is: a short run of independent FMA chains in registers on every
// thread of a device, at its instruction level. What it is not: a data sheet,
// or a benchmark of memory. Why so: a shared or throttled machine has the peak
// it has now, and a utilisation is a ratio within one run.
#ifndef LOCKSTEP_MODEL_PEAK_FLOPS_H_
#define LOCKSTEP_MODEL_PEAK_FLOPS_H_

#include "model/device.h"

namespace lockstep {

// fp32 FLOP/s of all threads together, 2 an FMA; takes about 50 ms.
double MeasurePeakFlops(Device& device);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_PEAK_FLOPS_H_
