#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "model/kernels/matmul/matmul_bench.h"
#include "model/kernels/register_peak.h"

namespace lockstep {
namespace {

struct Types {
  DType operands, c;
  bool accumulate;
};
constexpr Types kTypes[] = {{DType::kF32, DType::kF32, false},
                            {DType::kBF16, DType::kBF16, false},
                            {DType::kBF16, DType::kF32, false},
                            {DType::kF16, DType::kF16, false}};

}  // namespace

void BenchRates(Device& device, const std::vector<BenchShape>& shapes,
                int trials) {
  std::printf("GFLOP/s (ratio to the register peak)\n");
  std::printf(
      "| shape | F32 | BF16 -> BF16 | BF16 -> F32 | F16 -> F16 | "
      "peak |\n|---|---|---|---|---|---|\n");
  for (const BenchShape& shape : shapes) {
    std::printf("| %s %s %ld x %ld x %ld |", shape.what, shape.transposed,
                shape.m, shape.n, shape.k);
    double highest = 0;
    for (const Types& types : kTypes) {
      BenchProduct product(device, shape, types.operands, types.c);
      product.args().accumulate = types.accumulate;
      double best = 1e30;
      double peak = MeasureRegisterPeak(device, types.operands);
      for (int trial = 0; trial < trials; ++trial) {
        best = std::min(best, product.Seconds());
      }
      peak = std::max(peak, MeasureRegisterPeak(device, types.operands));
      highest = std::max(highest, peak);
      const double rate = product.flops() / best;
      std::printf(" %.0f (%.2f) |", rate * 1e-9, rate / peak);
      std::fflush(stdout);
    }
    std::printf(" %.0f |\n", highest * 1e-9);
  }
}

}  // namespace lockstep
