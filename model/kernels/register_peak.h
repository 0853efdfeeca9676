// The rate of multiply-adds from registers: what this machine can do at most,
// measured now, for ratios (model FLOP utilisation, benchmarks). Products of
// BF16 are made of fp32 FMAs, but at the amx level of tile products, about
// twenty times as many.
//
// A figure of the moment: clocks change with load and neighbours, so quote it
// only beside what was measured in the same run, never from a table.

#ifndef MODEL_KERNELS_REGISTER_PEAK_H_
#define MODEL_KERNELS_REGISTER_PEAK_H_

#include "determinism/dtype.h"
#include "model/device.h"

namespace lockstep {

// Floating-point operations a second, 2 a multiply-add, of all the device's
// threads together, at its level, for products of `operands`. The best of a few
// trials; takes some 20 ms.
double MeasureRegisterPeak(Device& device, DType operands);

}  // namespace lockstep

#endif  // MODEL_KERNELS_REGISTER_PEAK_H_
