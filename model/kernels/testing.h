// What the tests of kernels share: matrices with gaps and poison, the sweep
// over levels and threads, and equality of bytes that says how much it
// compared.
//
// Not for accuracy: that is each test's own, against binary64
// (golden_reader.h).

#ifndef MODEL_KERNELS_TESTING_H_
#define MODEL_KERNELS_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/regimes.h"

namespace lockstep {

// What a TestMatrix begins with: finite in every type, and no number that a
// kernel makes by accident.
constexpr uint8_t kTestPoison = 0xc5;

// [rows, columns] of any dtype, with `gap` foreign elements after each row and
// one before the first that a kernel must leave alone. That one also takes the
// data off any alignment but the element's. Begins poisoned.
class TestMatrix {
 public:
  TestMatrix(DType dtype, int64_t rows, int64_t columns, int64_t gap = 3);

  void* data() { return bytes_.data() + SizeOf(dtype_); }
  const void* data() const { return bytes_.data() + SizeOf(dtype_); }
  template <class T>
  T* as() {
    return static_cast<T*>(data());
  }
  void* row(int64_t i);
  const void* row(int64_t i) const;
  DType dtype() const { return dtype_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t row_stride() const { return columns_ + gap_; }

  // F32, BF16 and F16; Set rounds once.
  double At(int64_t i, int64_t j) const;
  void Set(int64_t i, int64_t j, float value);

  void Poison(uint8_t byte);  // rows and gaps
  bool GapsHold(uint8_t byte) const;

 private:
  size_t Offset(int64_t i, int64_t j) const;

  DType dtype_;
  int64_t rows_;
  int64_t columns_;
  int64_t gap_;
  std::vector<std::byte> bytes_;
};

// Uniform in [low, high), a function of (seed, position) alone.
TestMatrix RandomMatrix(DType dtype, int64_t rows, int64_t columns,
                        uint64_t seed, float low = -1, float high = 1);
std::vector<float> RandomFloats(int64_t n, uint64_t seed, float low = -1,
                                float high = 1);

// Hostile values (regimes.h). Every operation's test of levels and threads owes
// them to it, in shapes that are no multiple of anything.
TestMatrix RegimeMatrix(DType dtype, int64_t rows, int64_t columns,
                        Regime regime, uint32_t seed);
constexpr int64_t kOddExtents[] = {1, 15, 17, 31, 33, 63, 65};

// Rows [first, first + rows), the same bytes: what a smaller batch has.
TestMatrix RowsOf(const TestMatrix& matrix, int64_t first, int64_t rows);

// The same values in another storage type, rounded once by the conversion of
// N10. A kernel that rounds once gives in BF16 what it gives in F32, converted,
// if the inputs are BF16 values (N13).
TestMatrix Converted(const TestMatrix& matrix, DType dtype);

// Bytes of rows [got_row, got_row + rows) of `got` against those of `want` from
// want_row on. NaNs count as one class. A difference fails the test with its
// count, its first coordinate and both values in hex.
void ExpectSameRows(const TestMatrix& want, int64_t want_row,
                    const TestMatrix& got, int64_t got_row, int64_t rows,
                    const std::string& what);
void ExpectSameMatrix(const TestMatrix& want, const TestMatrix& got,
                      const std::string& what);

// Runs `run` at every level of this machine with 1, 2, 3 and 8 threads, each
// time over outputs poisoned otherwise, and expects the bytes of the scalar
// level on one thread, and the gaps untouched (N1). Fails if that was no
// element at all; levels that the machine lacks are not compared, and a machine
// with the scalar level alone compares threads. Returns that reference.
using TestRun =
    std::function<void(Device& device, std::vector<TestMatrix>& outputs)>;
std::vector<TestMatrix> ExpectSameOnEveryDevice(std::vector<TestMatrix> outputs,
                                                const TestRun& run);

// "F32", "BF16" and "F16".
constexpr DType kStorageTypes[] = {DType::kF32, DType::kBF16, DType::kF16};

// The largest |want|, and the largest |got - want| (NaN if one is).
double MaxAbs(const std::vector<double>& want);
double MaxError(const float* got, const std::vector<double>& want);

// Expects |got - want| <= roundings * 2^-24 * (the largest |want| of the row),
// row by row of `columns`: what so many roundings at the size of the row's
// numbers can do. 2^-126 is allowed on top, since less is flushed (N2).
void ExpectNearRows(const float* got, const std::vector<double>& want,
                    int64_t columns, double roundings, const std::string& what);

}  // namespace lockstep

#endif  // MODEL_KERNELS_TESTING_H_
