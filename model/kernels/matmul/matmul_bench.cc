// Rates of the product, each beside the register peak of the same moment, and
// the prices of N4 and N5 in interleaved pairs.
//
//   matmul_bench cubes|hybrid|prices|small [threads] [trials]
//
// LOCKSTEP_ISA chooses the level. A rate is the best of its trials; a price is
// a median. The operands are in cache where they fit.

#include "model/kernels/matmul/matmul_bench.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "determinism/environment.h"
#include "model/device.h"

namespace lockstep {
namespace {

constexpr BenchShape kSmall[] = {{"", "NT", 512, 256, 128},
                                 {"", "NT", 128, 128, 64},
                                 {"", "NN", 128, 128, 64},
                                 {"", "NN", 64, 64, 64}};

int Main(const std::string& what, int threads, int trials) {
  const auto isa = ChosenIsa();
  if (!isa.ok()) {
    std::fprintf(stderr, "%s\n", std::string(isa.status().message()).c_str());
    return 2;
  }
  Device device(threads, *isa);
  std::printf("%s, %d threads\n", NameOf(*isa), threads);
  if (what == "cubes") {
    BenchRates(device, CubeShapes(), trials);
  } else if (what == "hybrid") {
    BenchRates(device, HybridShapes(), trials);
  } else if (what == "small") {
    BenchRates(device, {std::begin(kSmall), std::end(kSmall)}, 3 * trials);
  } else if (what == "prices") {
    BenchPrices(device, HybridShapes(), trials);
  } else {
    std::fprintf(stderr,
                 "matmul_bench cubes|hybrid|prices|small [threads] [trials]\n");
    return 2;
  }
  return 0;
}

int NumberAt(int argc, char** argv, int index, int otherwise) {
  return argc > index ? std::max(1, std::atoi(argv[index])) : otherwise;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  return lockstep::Main(argc > 1 ? argv[1] : "",
                        lockstep::NumberAt(argc, argv, 2, 1),
                        lockstep::NumberAt(argc, argv, 3, 5));
}
