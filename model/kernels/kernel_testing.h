// Helpers for tests of kernels: storage buffers with poison around the data,
// comparison by bytes, comparison with float64 within a stated bound.

#ifndef MODEL_KERNELS_KERNEL_TESTING_H_
#define MODEL_KERNELS_KERNEL_TESTING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "gtest/gtest.h"

namespace lockstep {

// The first poison is NaN in every type, so that what should not be read shows.
// A kernel that makes NaNs itself could leave it in an output unseen: outputs
// are compared over two poisons, of which the other is finite.
constexpr uint8_t kNanPoison = 0xff;
constexpr uint8_t kFinitePoison = 0x5a;

inline std::vector<float> PoisonedFloats(int64_t count, uint8_t poison) {
  return std::vector<float>(count, BitCast<float>(0x01010101u * poison));
}

// rows x columns of a storage type, rows `gap` elements further apart than
// needed, and off any alignment but the element's. All of it starts poisoned.
class StorageBuffer {
 public:
  StorageBuffer() = default;
  StorageBuffer(DType dtype, int64_t rows, int64_t columns, int64_t gap = 3,
                uint8_t poison = kNanPoison)
      : dtype_(dtype),
        rows_(rows),
        columns_(columns),
        row_stride_(columns + gap),
        poison_(poison),
        bytes_(static_cast<size_t>(1 + rows * row_stride_) * SizeOf(dtype),
               poison) {}

  DType dtype() const { return dtype_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t row_stride() const { return row_stride_; }
  void* data() { return bytes_.data() + SizeOf(dtype_); }
  const void* data() const { return bytes_.data() + SizeOf(dtype_); }

  void Set(int64_t row, int64_t column, float value) {
    uint8_t* at = bytes_.data() + Offset(row, column);
    if (dtype_ == DType::kF32) {
      std::memcpy(at, &value, sizeof(value));
    } else {
      const uint16_t bits =
          dtype_ == DType::kBF16 ? ToBF16(value).bits : ToF16(value).bits;
      std::memcpy(at, &bits, sizeof(bits));
    }
  }

  float Get(int64_t row, int64_t column) const {
    const uint8_t* at = bytes_.data() + Offset(row, column);
    if (dtype_ == DType::kF32) {
      float value;
      std::memcpy(&value, at, sizeof(value));
      return value;
    }
    uint16_t bits;
    std::memcpy(&bits, at, sizeof(bits));
    return dtype_ == DType::kBF16 ? ToF32(BF16{bits}) : ToF32(F16{bits});
  }

  // Row-major, without gaps.
  template <class T>
  void Fill(const std::vector<T>& values) {
    LS_CHECK_EQ(static_cast<int64_t>(values.size()), rows_ * columns_);
    for (int64_t r = 0; r < rows_; ++r) {
      for (int64_t c = 0; c < columns_; ++c) {
        Set(r, c, static_cast<float>(values[r * columns_ + c]));
      }
    }
  }

  std::vector<float> Values() const {
    std::vector<float> values;
    for (int64_t r = 0; r < rows_; ++r) {
      for (int64_t c = 0; c < columns_; ++c) values.push_back(Get(r, c));
    }
    return values;
  }

  // Whether the gaps, and what lies before the first row, still hold what they
  // began with.
  bool GapsUntouched() const {
    for (size_t i = 0; i < SizeOf(dtype_); ++i) {
      if (bytes_[i] != poison_) return false;
    }
    for (int64_t r = 0; r < rows_; ++r) {
      const size_t end = Offset(r, 0) + row_stride_ * SizeOf(dtype_);
      for (size_t i = Offset(r, columns_); i < end; ++i) {
        if (bytes_[i] != poison_) return false;
      }
    }
    return true;
  }

 private:
  size_t Offset(int64_t row, int64_t column) const {
    return static_cast<size_t>(1 + row * row_stride_ + column) * SizeOf(dtype_);
  }

  DType dtype_ = DType::kF32;
  int64_t rows_ = 0, columns_ = 0, row_stride_ = 0;
  uint8_t poison_ = kNanPoison;
  std::vector<uint8_t> bytes_;
};

inline uint32_t BitsOf(float value) { return BitCast<uint32_t>(value); }

// Bytes, with all NaNs as one class. Fails when nothing was compared.
inline testing::AssertionResult SameBits(const std::vector<float>& a,
                                         const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) {
    return testing::AssertionFailure()
           << a.size() << " and " << b.size() << " values";
  }
  int64_t count = 0;
  size_t first = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (BitsOf(a[i]) == BitsOf(b[i])) continue;
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << count << " of " << a.size() << " differ, first at " << first
         << std::hex << ": 0x" << BitsOf(a[first]) << " and 0x"
         << BitsOf(b[first]);
}

// max |a - b| <= bound * max |b|, and everything finite.
inline testing::AssertionResult CloseTo(const std::vector<float>& a,
                                        const std::vector<double>& b,
                                        double bound) {
  if (a.size() != b.size() || a.empty()) {
    return testing::AssertionFailure()
           << a.size() << " and " << b.size() << " values";
  }
  double worst = 0, largest = 0;
  size_t at = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) {
      return testing::AssertionFailure() << "not finite at " << i;
    }
    const double error = std::abs(a[i] - b[i]);
    if (error > worst) at = i;
    worst = std::max(worst, error);
    largest = std::max(largest, std::abs(b[i]));
  }
  testing::AssertionResult result = worst <= bound * largest
                                        ? testing::AssertionSuccess()
                                        : testing::AssertionFailure();
  return result << "relative error " << worst / largest << ", bound " << bound
                << ", worst at " << at << " of " << a.size() << ": " << a[at]
                << " for " << b[at];
}

inline std::vector<float> NormalValues(std::mt19937& random, int64_t count,
                                       float scale = 1.0f) {
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_KERNEL_TESTING_H_
