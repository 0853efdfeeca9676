// What matmul_bench prints.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_BENCH_H_
#define MODEL_KERNELS_MATMUL_MATMUL_BENCH_H_

#include <vector>

#include "model/device.h"
#include "model/kernels/matmul/matmul_bench_product.h"

namespace lockstep {

// Every shape at these types: rates, and ratios to the peak of the moment.
void BenchRates(Device& device, const std::vector<BenchShape>& shapes,
                int trials);

// Interleaved pairs: leaves on the integer grid against the faster of two loops
// that add them in fp32; 2, 4 and 8 slices against none, where N4 cuts.
void BenchPrices(Device& device, const std::vector<BenchShape>& shapes,
                 int pairs);

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_BENCH_H_
