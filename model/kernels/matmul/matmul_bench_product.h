// A product to be timed: its memory, its shapes, a clock.
//
// What it is: what matmul_bench and `lockstep bench gemm` share, so that both
// time the same call on the same operands. What it is not: a judge. The shapes
// are those that goals are stated for: cubes, and the projections of
// hybrid_100m over a micro-batch of 2 x 2048 tokens.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_BENCH_PRODUCT_H_
#define MODEL_KERNELS_MATMUL_MATMUL_BENCH_PRODUCT_H_

#include <cstdint>
#include <functional>
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
  // The same of one call of somebody else's, after the same repetitions.
  double SecondsOf(const std::function<void()>& multiply) const;

 private:
  Device& device_;
  Tensor a_, b_, c_;
  std::vector<KSegment> segments_;
  std::vector<KSlice> slices_;
  GridStats stats_;
  MatmulArgs args_;
};

// The middle of 2 * n + 1 values.
double BenchMedian(std::vector<double> values);

// Two leaves of half of k each: a weight gradient of two samples.
constexpr int64_t kBenchLeaves = 2;
// The leaves of `product`, accumulated in fp32 by one call a leaf; seconds.
double SecondsOneByOne(BenchProduct& product);

// 1024, 2048 and 4096.
std::vector<BenchShape> CubeShapes();
// Forward (NT), input gradient (NN) and weight gradient (TN).
std::vector<BenchShape> HybridShapes();

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_BENCH_PRODUCT_H_
