#include "model/kernels/matmul/matmul_bench_product.h"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

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

Tensor Operand(Device& device, DType dtype, int64_t count) {
  Tensor tensor = Tensor::Uninit(device, dtype, {count});
  for (int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(i * 7919 % 1000) * 1e-3f - 0.5f;
    if (dtype == DType::kF32) {
      tensor.data<float>()[i] = value;
    } else if (dtype == DType::kBF16) {
      tensor.data<BF16>()[i] = ToBF16(value);
    } else {
      tensor.data<F16>()[i] = ToF16(value);
    }
  }
  return tensor;
}

double Now(bool of_thread) {
  timespec now{};
  clock_gettime(of_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

BenchProduct::BenchProduct(Device& device, const BenchShape& shape,
                           DType operands, DType c_dtype, int64_t slices,
                           SliceUse slice_use)
    : device_(device),
      a_(Operand(device, operands, shape.m * shape.k)),
      b_(Operand(device, operands, shape.k * shape.n)),
      c_(Tensor::Zeros(device, c_dtype, {shape.m, shape.n})) {
  const bool a_rows = shape.transposed[0] == 'N';
  const bool b_rows = shape.transposed[1] == 'N';
  args_.m = shape.m;
  args_.n = shape.n;
  args_.k = shape.k;
  args_.a = {a_.raw(), operands, a_rows ? shape.k : 1, a_rows ? 1 : shape.m};
  args_.b = {b_.raw(), operands, b_rows ? shape.n : 1, b_rows ? 1 : shape.k};
  args_.c = c_.raw();
  args_.c_dtype = c_dtype;
  args_.c_row_stride = shape.n;
  for (int64_t s = 0; s < slices; ++s) {
    segments_.push_back({shape.k * s / slices, shape.k * (s + 1) / slices});
  }
  for (const KSegment& segment : segments_) {
    slices_.push_back({&segment, 1});
  }
  args_.slices = slices_.data();
  args_.slice_count = slices;
  args_.slice_use = slice_use;
  args_.grid_exponent = 40;
  args_.grid_stats = &stats_;
}

double BenchProduct::flops() const {
  return 2.0 * static_cast<double>(args_.m * args_.n * args_.k);
}

double BenchProduct::Seconds() {
  return SecondsOf([this] { Matmul(device_, args_); });
}

double BenchProduct::SecondsOf(const std::function<void()>& multiply) const {
  const int repeats = std::max(1, static_cast<int>(3e8 / flops()));
  const bool of_thread = device_.threads().threads() == 1;
  const double start = Now(of_thread);
  for (int i = 0; i < repeats; ++i) multiply();
  return (Now(of_thread) - start) / repeats;
}

double SecondsOneByOne(BenchProduct& product) {
  MatmulArgs& args = product.args();
  const KSlice* slices = args.slices;
  const int64_t count = args.slice_count;
  double seconds = 0;
  args.slice_count = 1;
  for (int64_t i = 0; i < count; ++i, ++args.slices) {
    seconds += product.Seconds();
  }
  args.slices = slices;
  args.slice_count = count;
  return seconds;
}

std::vector<BenchShape> CubeShapes() {
  return {std::begin(kCubes), std::end(kCubes)};
}

std::vector<BenchShape> HybridShapes() {
  return {std::begin(kHybrid), std::end(kHybrid)};
}

double BenchMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace lockstep
