#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "model/device.h"
#include "model/kernels/matmul/matmul_bench_product.h"
#include "model/kernels/register_peak.h"
#include "tools/bench/benches.h"
#include "tools/bench/peer_product.h"

namespace lockstep {
namespace {

constexpr int64_t kRounds = 5;

// Times cases on one device and collects them.
class GemmBench {
 public:
  GemmBench(const BenchOptions& options, Device& device)
      : options_(options),
        device_(device),
        rounds_(options.rounds > 0 ? options.rounds : kRounds) {}

  absl::Status Cubes() {
    for (const BenchShape& shape : CubeShapes()) {
      for (const DType dtype : {DType::kBF16, DType::kF32}) {
        LS_RETURN_IF_ERROR(Product(shape, dtype, dtype, false));
      }
    }
    return absl::OkStatus();
  }

  // A weight's gradient is added to in fp32; the others are rounded.
  absl::Status Projections() {
    for (const BenchShape& shape : HybridShapes()) {
      const bool weight = shape.transposed[0] == 'T';
      LS_RETURN_IF_ERROR(Product(shape, DType::kBF16,
                                 weight ? DType::kF32 : DType::kBF16, weight));
      if (weight) Leaves(shape);
    }
    return absl::OkStatus();
  }

  std::vector<BenchCase> TakeCases() { return std::move(cases_); }

 private:
  static std::string NameOfShape(const BenchShape& shape, DType dtype) {
    return absl::StrCat(NameOf(dtype), " ", shape.what,
                        shape.what[0] == '\0' ? "" : " ", shape.transposed, " ",
                        shape.m, "x", shape.n, "x", shape.k);
  }
  bool Wanted(const std::string& name) const {
    return absl::StrContains(name, options_.only);
  }

  absl::Status Product(const BenchShape& shape, DType operands, DType c_dtype,
                       bool accumulate) {
    const std::string name = NameOfShape(shape, operands);
    if (!Wanted(name)) return absl::OkStatus();
    BenchProduct product(device_, shape, operands, c_dtype);
    product.args().accumulate = accumulate;
    double best = 0, peak = 0;
    for (int64_t round = 0; round < rounds_; ++round) {
      best = std::max(best, product.flops() / product.Seconds());
      peak = std::max(peak, MeasureRegisterPeak(device_, operands));
    }
    cases_.push_back({.name = name,
                      .threads = device_.threads().threads(),
                      .rate = best,
                      .unit = "FLOP/s",
                      .probe = peak,
                      .ratio = best / peak});
    if (options_.peer.empty()) return absl::OkStatus();
    LS_RETURN_IF_ERROR(Pair(product, false, cases_.back()));
    if (shape.transposed[0] == 'T') return absl::OkStatus();
    BenchCase packed = cases_.back();
    packed.name = absl::StrCat(name, ", packed");
    LS_RETURN_IF_ERROR(Pair(product, true, packed));
    cases_.push_back(std::move(packed));
    return absl::OkStatus();
  }

  // Pairs in turns; the ratio is the median of theirs, so that what disturbs
  // the machine counts once and not for one side.
  absl::Status Pair(BenchProduct& product, bool packed, BenchCase& result) {
    LS_ASSIGN_OR_RETURN(
        const auto peer,
        PeerProduct::Make(product.args(), device_.threads().threads(), packed));
    peer->Multiply();
    std::vector<double> ratios;
    for (int64_t round = 0; round < rounds_; ++round) {
      const double ours = product.Seconds();
      ratios.push_back(product.SecondsOf([&] { peer->Multiply(); }) / ours);
    }
    result.peer = options_.peer;
    result.peer_ratio = BenchMedian(ratios);
    return absl::OkStatus();
  }

  // Leaves on the integer grid, against the faster of two fp32 loops.
  void Leaves(const BenchShape& shape) {
    const std::string name =
        absl::StrCat("int64 leaves ", NameOfShape(shape, DType::kBF16));
    if (!Wanted(name)) return;
    BenchProduct fp32(device_, shape, DType::kBF16, DType::kF32, kBenchLeaves,
                      SliceUse::kLeaves);
    fp32.args().accumulate = true;
    BenchProduct grid(device_, shape, DType::kBF16, DType::kI64, kBenchLeaves,
                      SliceUse::kLeaves);
    std::vector<double> rates, probes, ratios;
    for (int64_t round = 0; round < rounds_; ++round) {
      const double integers = grid.Seconds();
      const double floats = std::min(fp32.Seconds(), SecondsOneByOne(fp32));
      rates.push_back(grid.flops() / integers);
      probes.push_back(grid.flops() / floats);
      ratios.push_back(floats / integers);
    }
    cases_.push_back({.name = name,
                      .threads = device_.threads().threads(),
                      .rate = BenchMedian(rates),
                      .unit = "FLOP/s",
                      .probe = BenchMedian(probes),
                      .ratio = BenchMedian(ratios)});
  }

  const BenchOptions& options_;
  Device& device_;
  const int64_t rounds_;
  std::vector<BenchCase> cases_;
};

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchGemm(const BenchOptions& options) {
  LS_RETURN_IF_ERROR(CheckProductPeer(options.peer));
  LS_ASSIGN_OR_RETURN(const Isa isa, ChosenIsa());
  const ScopedFloatEnv float_env;
  std::vector<BenchCase> cases;
  for (int threads = 1; threads <= std::min<int64_t>(2, options.threads);
       ++threads) {
    Device device(threads, isa);
    GemmBench bench(options, device);
    LS_RETURN_IF_ERROR(bench.Cubes());
    LS_RETURN_IF_ERROR(bench.Projections());
    for (BenchCase& c : bench.TakeCases()) cases.push_back(std::move(c));
  }
  if (cases.empty()) {
    return InputError("no case has such a name", "--only " + options.only,
                      "leave it out to see their names");
  }
  return cases;
}

}  // namespace lockstep
