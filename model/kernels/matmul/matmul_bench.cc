// Rates of the product, each beside the register peak of the same moment.
//
//   matmul_bench [threads]
//
// LOCKSTEP_ISA chooses the level. A line is the best of several trials; the
// operands are in cache where they fit.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "model/device.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/register_peak.h"
#include "model/tensor.h"

namespace lockstep {
namespace {

struct Shape {
  int64_t m, n, k;
};
// Squares; a projection of 4096 tokens; small layers; a head of a scan.
constexpr Shape kShapes[] = {{1024, 1024, 1024}, {2048, 2048, 2048},
                             {4096, 768, 256},   {768, 256, 4096},
                             {512, 256, 128},    {128, 128, 64}};

struct Types {
  DType operands, c;
  bool accumulate;
};
constexpr Types kTypes[] = {{DType::kF32, DType::kF32, false},
                            {DType::kF32, DType::kF32, true},
                            {DType::kBF16, DType::kBF16, false},
                            {DType::kBF16, DType::kF32, false},
                            {DType::kBF16, DType::kF32, true}};

Tensor Operand(Device& device, DType dtype, int64_t count) {
  Tensor tensor = Tensor::Uninit(device, dtype, {count});
  for (int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(i * 7919 % 1000) * 1e-3f - 0.5f;
    if (dtype == DType::kF32) {
      tensor.data<float>()[i] = value;
    } else {
      tensor.data<BF16>()[i] = ToBF16(value);
    }
  }
  return tensor;
}

double SecondsOf(Device& device, const MatmulArgs& args) {
  const double flops = 2.0 * static_cast<double>(args.m * args.n * args.k);
  const int repeats = std::max(1, static_cast<int>(3e8 / flops));
  double best = 1e30;
  for (int trial = 0; trial < 15; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) Matmul(device, args);
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count() / repeats);
  }
  return best;
}

// `transposed` as BLAS says it: "NT" is rows of a and rows of b.
void Measure(Device& device, const Shape& shape, const Types& types,
             const std::string& transposed) {
  const auto [m, n, k] = shape;
  Tensor a = Operand(device, types.operands, m * k);
  Tensor b = Operand(device, types.operands, k * n);
  Tensor c = Tensor::Zeros(device, types.c, {m, n});
  MatmulArgs args{.m = m, .n = n, .k = k};
  const bool a_rows = transposed[0] == 'N';
  const bool b_rows = transposed[1] == 'N';
  args.a = {a.raw(), types.operands, a_rows ? k : 1, a_rows ? 1 : m};
  args.b = {b.raw(), types.operands, b_rows ? n : 1, b_rows ? 1 : k};
  args.c = c.raw();
  args.c_dtype = types.c;
  args.c_row_stride = n;
  args.accumulate = types.accumulate;
  const double before = MeasureRegisterPeak(device);
  const double rate =
      2.0 * static_cast<double>(m * n * k) / SecondsOf(device, args);
  const double peak = std::max(before, MeasureRegisterPeak(device));
  std::printf("%-4s -> %-4s%s %s %5ld %5ld %5ld  %7.1f GFLOP/s  %.2f of %.1f\n",
              NameOf(types.operands), NameOf(types.c),
              types.accumulate ? "+" : " ", transposed.c_str(), m, n, k,
              rate * 1e-9, rate / peak, peak * 1e-9);
}

int Main(int threads) {
  const auto isa = ChosenIsa();
  if (!isa.ok()) {
    std::fprintf(stderr, "%s\n", std::string(isa.status().message()).c_str());
    return 2;
  }
  Device device(threads, *isa);
  std::printf("%s, %d threads; m, n, k; ratio to the register peak\n",
              NameOf(*isa), threads);
  for (const Types& types : kTypes) {
    for (const Shape& shape : kShapes) {
      for (const char* transposed : {"NT", "NN", "TN"}) {
        Measure(device, shape, types, transposed);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  return lockstep::Main(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
}
