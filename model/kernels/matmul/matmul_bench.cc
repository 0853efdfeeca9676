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

constexpr BenchShape kCubes[] = {
    {"", "NT", 1024, 1024, 1024}, {"", "NN", 1024, 1024, 1024},
    {"", "TN", 1024, 1024, 1024}, {"", "NT", 2048, 2048, 2048},
    {"", "NN", 2048, 2048, 2048}, {"", "TN", 2048, 2048, 2048},
    {"", "NT", 4096, 4096, 4096}};

// Projections of hybrid_100m over a micro-batch of 2 x 2048 tokens: forward
// (NT), input gradient (NN), weight gradient (TN).
constexpr BenchShape kHybrid[] = {{"in_proj", "NT", 4096, 4120, 768},
                                  {"in_proj", "NN", 4096, 768, 4120, true},
                                  {"in_proj", "TN", 4120, 768, 4096},
                                  {"out_proj", "NT", 4096, 768, 1536, true},
                                  {"out_proj", "NN", 4096, 1536, 768},
                                  {"out_proj", "TN", 768, 1536, 4096},
                                  {"up", "NT", 4096, 3072, 768},
                                  {"up", "NN", 4096, 768, 3072, true},
                                  {"up", "TN", 3072, 768, 4096},
                                  {"down", "NT", 4096, 768, 3072, true},
                                  {"down", "NN", 4096, 3072, 768},
                                  {"down", "TN", 768, 3072, 4096},
                                  {"qkv", "NT", 4096, 1280, 768},
                                  {"qkv", "NN", 4096, 768, 1280, true},
                                  {"qkv", "TN", 1280, 768, 4096},
                                  {"head", "NT", 4096, 16384, 768},
                                  {"head", "NN", 4096, 768, 16384, true},
                                  {"head", "TN", 16384, 768, 4096}};

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
    BenchRates(device, {std::begin(kCubes), std::end(kCubes)}, trials);
  } else if (what == "hybrid") {
    BenchRates(device, {std::begin(kHybrid), std::end(kHybrid)}, trials);
  } else if (what == "small") {
    BenchRates(device, {std::begin(kSmall), std::end(kSmall)}, 3 * trials);
  } else if (what == "prices") {
    BenchPrices(device, {std::begin(kHybrid), std::end(kHybrid)}, trials);
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
