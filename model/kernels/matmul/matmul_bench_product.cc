#include <time.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/kernels/matmul/matmul_bench.h"

namespace lockstep {
namespace {

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
  const int repeats = std::max(1, static_cast<int>(3e8 / flops()));
  const bool of_thread = device_.threads().threads() == 1;
  const double start = Now(of_thread);
  for (int i = 0; i < repeats; ++i) Matmul(device_, args_);
  return (Now(of_thread) - start) / repeats;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace lockstep
