// The rate of memory under a plain copy: what bounds an operation that computes
// little, measured now, for ratios.
#ifndef LOCKSTEP_TOOLS_BENCH_MEMORY_RATE_H_
#define LOCKSTEP_TOOLS_BENCH_MEMORY_RATE_H_

#include "model/device.h"

namespace lockstep {

// Bytes read and written a second by all the device's threads together, over
// more than any cache holds. The best of a few trials; takes some 50 ms.
double MeasureMemoryRate(Device& device);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_MEMORY_RATE_H_
