#include "model/kernels/matmul/matmul_case.h"

#include <cstring>
#include <sstream>

namespace lockstep {
namespace {

uint64_t BitsAt(const std::vector<std::byte>& memory, int64_t index,
                DType dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, memory.data() + index * SizeOf(dtype), SizeOf(dtype));
  return bits;
}

bool IsNan(uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::kI64:
      return false;
    case DType::kF32:
      return (bits & 0x7fffffffu) > 0x7f800000u;
    case DType::kBF16:
      return (bits & 0x7fffu) > 0x7f80u;
    default:
      return (bits & 0x7fffu) > 0x7c00u;
  }
}

}  // namespace

Slices FusedSlices(const std::vector<int64_t>& parts, int64_t count) {
  Slices slices(count);
  int64_t start = 0;
  for (const int64_t part : parts) {
    const int64_t width = part / count;
    for (int64_t s = 0; s < count; ++s) {
      slices[s].push_back({start + s * width, start + (s + 1) * width});
    }
    start += part;
  }
  return slices;
}

int64_t Sum(const std::vector<int64_t>& parts) {
  int64_t sum = 0;
  for (const int64_t part : parts) sum += part;
  return sum;
}

std::string MatmulSpec::Text() const {
  std::ostringstream text;
  text << batch << " x [" << m << "," << k << "].[" << k << "," << n << "] "
       << NameOf(dtype) << " -> " << NameOf(c_dtype)
       << (accumulate ? " added" : "") << ", layouts "
       << static_cast<int>(a_layout) << " " << static_cast<int>(b_layout)
       << ", regime " << static_cast<int>(regime);
  if (!slices.empty()) {
    text << ", " << slices.size()
         << (slice_use == SliceUse::kTree ? " slices" : " leaves");
  }
  if (c_dtype == DType::kI64) text << ", e = " << grid_exponent;
  return text.str();
}

MatmulCase::MatmulCase(const MatmulSpec& spec, uint32_t seed)
    : spec_(spec), random_(seed) {
  args_.m = spec.m;
  args_.n = spec.n;
  args_.k = spec.k;
  args_.batch = spec.batch;
  args_.a =
      MakeOperand(spec.m, spec.k, spec.a_layout, &a_, &args_.a_batch_stride);
  args_.b =
      MakeOperand(spec.k, spec.n, spec.b_layout, &b_, &args_.b_batch_stride);
  args_.c_dtype = spec.c_dtype;
  args_.accumulate = spec.accumulate;
  for (const std::vector<KSegment>& slice : spec_.slices) {
    slices_.push_back({slice.data(), static_cast<int64_t>(slice.size())});
  }
  args_.slices = slices_.data();
  args_.slice_count = static_cast<int64_t>(slices_.size());
  args_.slice_use = spec.slice_use;
  args_.grid_exponent = spec.grid_exponent;
  args_.grid_stats = &stats_;
  args_.c_row_stride = spec.n + 3;
  args_.c_batch_stride = spec.m * args_.c_row_stride + 5;
  const size_t size = SizeOf(spec.c_dtype);
  const int64_t elements = spec.batch * args_.c_batch_stride + 2;
  initial_output_.resize(elements * size, std::byte{0xa5});
  if (spec.accumulate) {
    for (int64_t i = 0; i < elements; ++i) {
      FillElement(spec.c_dtype, initial_output_.data() + i * size);
    }
  }
}

void MatmulCase::FillElement(DType dtype, std::byte* at) {
  const float value = NextValue(spec_.regime, random_);
  if (dtype == DType::kF32) {
    std::memcpy(at, &value, sizeof value);
  } else {
    const uint16_t bits =
        dtype == DType::kBF16 ? ToBF16(value).bits : ToF16(value).bits;
    std::memcpy(at, &bits, sizeof bits);
  }
}

MatrixRef MatmulCase::MakeOperand(int64_t rows, int64_t cols, Layout layout,
                                  std::vector<std::byte>* memory,
                                  int64_t* batch_stride) {
  MatrixRef matrix{nullptr, spec_.dtype, cols + 1, 1};
  if (layout == Layout::kColumns) matrix = {nullptr, spec_.dtype, 1, rows + 2};
  if (layout == Layout::kStrided) {
    matrix = {nullptr, spec_.dtype, 3 * cols + 1, 3};
  }
  *batch_stride = rows * matrix.row_stride + cols * matrix.col_stride + 1;
  const size_t size = SizeOf(spec_.dtype);
  const int64_t elements = spec_.batch * *batch_stride + 1;
  memory->resize(elements * size);
  for (int64_t i = 0; i < elements; ++i) {
    FillElement(spec_.dtype, memory->data() + i * size);
  }
  matrix.data = memory->data() + size;  // off alignment
  return matrix;
}

int64_t MatmulCase::CountDifferences(const std::vector<std::byte>& want,
                                     const std::vector<std::byte>& got,
                                     std::string* report,
                                     int64_t* compared) const {
  const DType dtype = spec_.c_dtype;
  const int64_t elements = static_cast<int64_t>(want.size() / SizeOf(dtype));
  int64_t differences = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const uint64_t a = BitsAt(want, i, dtype);
    const uint64_t b = BitsAt(got, i, dtype);
    ++*compared;
    if (a == b || (IsNan(a, dtype) && IsNan(b, dtype))) continue;
    if (differences++ == 0) {
      std::ostringstream text;
      const int64_t at = i - 1;  // c starts one element in
      text << spec_.Text() << ": first at matrix " << at / args_.c_batch_stride
           << ", row " << at % args_.c_batch_stride / args_.c_row_stride
           << ", column " << at % args_.c_batch_stride % args_.c_row_stride
           << std::hex << ": want 0x" << a << ", got 0x" << b;
      *report = text.str();
    }
  }
  return differences;
}

}  // namespace lockstep
