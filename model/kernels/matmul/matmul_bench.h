// What the benchmarks of the product share: its memory, and a clock.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_BENCH_H_
#define MODEL_KERNELS_MATMUL_MATMUL_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/grid.h"
#include "model/kernels/matmul/matmul.h"
#include "model/tensor.h"

namespace lockstep {

struct BenchShape {
  const char* what;
  const char* transposed;  // as BLAS says it: "NT" is rows of a and rows of b
  int64_t m, n, k;
  bool sliced = false;  // its sum is one that tensor parallelism cuts (N4)
};

// Operands in (-0.5, 0.5), an output of zeros, and k cut into equal slices.
class BenchProduct {
 public:
  BenchProduct(Device& device, const BenchShape& shape, DType operands,
               DType c_dtype, int64_t slices = 0,
               SliceUse slice_use = SliceUse::kTree);
  BenchProduct(const BenchProduct&) = delete;
  BenchProduct& operator=(const BenchProduct&) = delete;

  MatmulArgs& args() { return args_; }
  double flops() const;
  // Of one product. On one thread the time that the thread had, so that
  // neighbours on the core count less.
  double Seconds();

 private:
  Device& device_;
  Tensor a_, b_, c_;
  std::vector<KSegment> segments_;
  std::vector<KSlice> slices_;
  GridStats stats_;
  MatmulArgs args_;
};

// The middle of 2 * n + 1 values, and the best.
double Median(std::vector<double> values);

// Every shape at these types: rates, and ratios to the peak of the moment.
void BenchRates(Device& device, const std::vector<BenchShape>& shapes,
                int trials);

// Interleaved pairs: leaves on the integer grid against the faster of two loops
// that add them in fp32; 2, 4 and 8 slices against none, where N4 cuts.
void BenchPrices(Device& device, const std::vector<BenchShape>& shapes,
                 int pairs);

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_BENCH_H_
