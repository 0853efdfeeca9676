#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "model/kernels/matmul/matmul_bench.h"

namespace lockstep {
namespace {

void Grid(Device& device, const BenchShape& shape, int pairs) {
  BenchProduct fp32(device, shape, DType::kBF16, DType::kF32, kBenchLeaves,
                    SliceUse::kLeaves);
  fp32.args().accumulate = true;
  BenchProduct grid(device, shape, DType::kBF16, DType::kI64, kBenchLeaves,
                    SliceUse::kLeaves);
  std::vector<double> ratios, one_by_one;
  for (int pair = 0; pair < pairs; ++pair) {
    const double integers = grid.Seconds();
    const double together = fp32.Seconds();
    const double apart = SecondsOneByOne(fp32);
    ratios.push_back(integers / std::min(together, apart));
    one_by_one.push_back(apart / together);
  }
  std::printf("| %s %s %ld x %ld x %ld | %+.1f %% | %+.1f %% |\n", shape.what,
              shape.transposed, shape.m, shape.n, shape.k,
              100 * (BenchMedian(ratios) - 1),
              100 * (BenchMedian(one_by_one) - 1));
}

void Sliced(Device& device, const BenchShape& shape, int pairs) {
  BenchProduct whole(device, shape, DType::kBF16, DType::kBF16);
  std::printf("| %s %s %ld x %ld x %ld |", shape.what, shape.transposed,
              shape.m, shape.n, shape.k);
  for (const int64_t slices : {2, 4, 8}) {
    BenchProduct sliced(device, shape, DType::kBF16, DType::kBF16, slices);
    std::vector<double> ratios;
    for (int pair = 0; pair < pairs; ++pair) {
      const double cut = sliced.Seconds();
      ratios.push_back(cut / whole.Seconds());
    }
    std::printf(" %+.1f %% |", 100 * (BenchMedian(ratios) - 1));
    std::fflush(stdout);
  }
  std::printf("\n");
}

}  // namespace

void BenchPrices(Device& device, const std::vector<BenchShape>& shapes,
                 int pairs) {
  std::printf("Medians of %d interleaved pairs\n", pairs);
  std::printf(
      "| weight gradient, two leaves, BF16 | I64 grid over the best "
      "fp32 loop | fp32: a call a leaf over one call |\n|---|---|---|\n");
  for (const BenchShape& shape : shapes) {
    if (shape.transposed[0] == 'T') Grid(device, shape, pairs);
  }
  std::printf(
      "| BF16 -> BF16 | 2 slices over none | 4 | 8 |\n"
      "|---|---|---|---|\n");
  for (const BenchShape& shape : shapes) {
    if (shape.sliced) Sliced(device, shape, pairs);
  }
}

}  // namespace lockstep
