#include "model/kernels/testing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "determinism/check.h"
#include "determinism/philox.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string Hex(const std::byte* value, size_t size) {
  std::ostringstream out;
  out << "0x" << std::hex;
  for (size_t i = size; i-- > 0;) {
    const int byte = std::to_integer<int>(value[i]);
    out << (byte < 16 ? "0" : "") << byte;
  }
  return out.str();
}

bool IsFloat(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

}  // namespace

TestMatrix::TestMatrix(DType dtype, int64_t rows, int64_t columns, int64_t gap)
    : dtype_(dtype), rows_(rows), columns_(columns), gap_(gap) {
  bytes_.resize((1 + rows * (columns + gap)) * SizeOf(dtype));
  Poison(kTestPoison);
}

size_t TestMatrix::Offset(int64_t i, int64_t j) const {
  LS_CHECK(i >= 0 && i < rows_ && j >= 0 && j < row_stride());
  return static_cast<size_t>(1 + i * row_stride() + j) * SizeOf(dtype_);
}

void* TestMatrix::row(int64_t i) { return bytes_.data() + Offset(i, 0); }
const void* TestMatrix::row(int64_t i) const {
  return bytes_.data() + Offset(i, 0);
}

double TestMatrix::At(int64_t i, int64_t j) const {
  const std::byte* at = bytes_.data() + Offset(i, j);
  if (dtype_ == DType::kF32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  LS_CHECK(IsFloat(dtype_)) << NameOf(dtype_);
  return dtype_ == DType::kBF16 ? ToF32(BF16{bits}) : ToF32(F16{bits});
}

void TestMatrix::Set(int64_t i, int64_t j, float value) {
  std::byte* at = bytes_.data() + Offset(i, j);
  LS_CHECK(IsFloat(dtype_)) << NameOf(dtype_);
  if (dtype_ == DType::kF32) {
    std::memcpy(at, &value, sizeof(value));
    return;
  }
  const uint16_t bits =
      dtype_ == DType::kBF16 ? ToBF16(value).bits : ToF16(value).bits;
  std::memcpy(at, &bits, sizeof(bits));
}

void TestMatrix::Poison(uint8_t byte) {
  std::fill(bytes_.begin(), bytes_.end(), std::byte{byte});
}

bool TestMatrix::GapsHold(uint8_t byte) const {
  const auto holds = [&](size_t first, size_t count) {
    const auto from = bytes_.begin() + static_cast<int64_t>(first);
    return std::all_of(from, from + static_cast<int64_t>(count),
                       [=](std::byte b) { return b == std::byte{byte}; });
  };
  const size_t size = SizeOf(dtype_);
  if (!holds(0, size)) return false;
  for (int64_t i = 0; gap_ > 0 && i < rows_; ++i) {
    if (!holds(Offset(i, columns_), gap_ * size)) return false;
  }
  return true;
}

std::vector<float> RandomFloats(int64_t n, uint64_t seed, float low,
                                float high) {
  std::vector<float> values(n);
  FillRandomUniform(seed, {Stream::kTest, 0, 0, 0}, values);
  for (float& value : values) value = low + (high - low) * value;
  return values;
}

TestMatrix RandomMatrix(DType dtype, int64_t rows, int64_t columns,
                        uint64_t seed, float low, float high) {
  TestMatrix matrix(dtype, rows, columns);
  const std::vector<float> values =
      RandomFloats(rows * columns, seed, low, high);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      matrix.Set(i, j, values[i * columns + j]);
    }
  }
  return matrix;
}

TestMatrix RegimeMatrix(DType dtype, int64_t rows, int64_t columns,
                        Regime regime, uint32_t seed) {
  TestMatrix matrix(dtype, rows, columns);
  const std::vector<float> values = RegimeFloats(rows * columns, regime, seed);
  for (int64_t i = 0; i < rows * columns; ++i) {
    matrix.Set(i / columns, i % columns, values[i]);
  }
  return matrix;
}

TestMatrix RowsOf(const TestMatrix& matrix, int64_t first, int64_t rows) {
  TestMatrix part(matrix.dtype(), rows, matrix.columns());
  const size_t size = matrix.columns() * SizeOf(matrix.dtype());
  for (int64_t i = 0; i < rows; ++i) {
    std::memcpy(part.row(i), matrix.row(first + i), size);
  }
  return part;
}

TestMatrix Converted(const TestMatrix& matrix, DType dtype) {
  TestMatrix converted(dtype, matrix.rows(), matrix.columns());
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    for (int64_t j = 0; j < matrix.columns(); ++j) {
      converted.Set(i, j, static_cast<float>(matrix.At(i, j)));
    }
  }
  return converted;
}

void ExpectSameRows(const TestMatrix& want, int64_t want_row,
                    const TestMatrix& got, int64_t got_row, int64_t rows,
                    const std::string& what) {
  ASSERT_EQ(want.dtype(), got.dtype()) << what;
  ASSERT_EQ(want.columns(), got.columns()) << what;
  ASSERT_GT(rows * want.columns(), 0) << what << ": nothing to compare";
  const size_t size = SizeOf(want.dtype());
  int64_t differing = 0;
  std::string first;
  for (int64_t i = 0; i < rows; ++i) {
    const auto* w = static_cast<const std::byte*>(want.row(want_row + i));
    const auto* g = static_cast<const std::byte*>(got.row(got_row + i));
    if (std::memcmp(w, g, size * want.columns()) == 0) continue;
    for (int64_t j = 0; j < want.columns(); ++j, w += size, g += size) {
      if (std::memcmp(w, g, size) == 0) continue;
      if (IsFloat(want.dtype()) && std::isnan(want.At(want_row + i, j)) &&
          std::isnan(got.At(got_row + i, j))) {
        continue;
      }
      if (differing++ == 0) {
        first = "first at (" + std::to_string(i) + ", " + std::to_string(j) +
                "): want " + Hex(w, size) + ", got " + Hex(g, size);
      }
    }
  }
  EXPECT_EQ(differing, 0) << what << ": " << differing << " of "
                          << rows * want.columns() << " differ, " << first;
}

void ExpectSameMatrix(const TestMatrix& want, const TestMatrix& got,
                      const std::string& what) {
  ASSERT_EQ(want.rows(), got.rows()) << what;
  ExpectSameRows(want, 0, got, 0, want.rows(), what);
}

double MaxAbs(const std::vector<double>& want) {
  double max = 0;
  for (const double value : want) max = std::max(max, std::abs(value));
  return max;
}

double MaxError(const float* got, const std::vector<double>& want) {
  double max = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - want[i]);
    if (std::isnan(error)) return error;
    max = std::max(max, error);
  }
  return max;
}

void ExpectNearRows(const float* got, const std::vector<double>& want,
                    int64_t columns, double roundings,
                    const std::string& what) {
  ASSERT_GT(want.size(), 0u) << what << ": nothing to compare";
  const int64_t count = static_cast<int64_t>(want.size());
  double worst = 0;
  for (int64_t first = 0; first < count; first += columns) {
    const std::vector<double> row(want.begin() + first,
                                  want.begin() + first + columns);
    const double unit = 0x1p-24 * MaxAbs(row);
    const double error = MaxError(got + first, row);
    EXPECT_LE(error, roundings * unit + 0x1p-126)
        << what << ", row " << first / columns;
    if (unit > 0) worst = std::max(worst, error / unit);
  }
  ::testing::Test::RecordProperty(what + " in roundings",
                                  std::to_string(worst));
}

}  // namespace lockstep
