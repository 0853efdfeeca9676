// What an operation's self check is made of: fixed inputs, and a digest.
//
// What it is: tensors that are functions of their place in the check (N9), odd
// in shape and alignment, with gaps between rows, and one digest over all that
// the operation wrote. What it is not: a judge: two digests of one operation
// are compared by whoever has them (doctor, tests), across levels, threads and
// time. Why so: a machine that computes wrongly must be found without files,
// by the same call for every operation (N1).
//
// The digests' values promise nothing: a check may be changed at any time.

#ifndef MODEL_KERNELS_SELF_CHECK_H_
#define MODEL_KERNELS_SELF_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

constexpr DType kCheckTypes[] = {DType::kF32, DType::kBF16, DType::kF16};

// [rows, columns] with three elements between rows, and a start that is aligned
// to elements only.
class CheckTensor {
 public:
  CheckTensor(DType dtype, int64_t rows, int64_t columns);

  void* data() { return bytes_.data() + element_; }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data());
  }
  int64_t row_stride() const { return columns_ + kGap; }  // elements
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  // Rounded once to the type; the gap's elements too, by index beyond columns.
  void Set(int64_t row, int64_t column, float value);
  void FlipSign();  // of the first element
  void FlipBit();   // the lowest of the first element

 private:
  static constexpr int64_t kGap = 3;
  DType dtype_;
  size_t element_;  // bytes
  int64_t rows_, columns_;
  std::vector<std::byte> bytes_;
};

class SelfCheck {
 public:
  explicit SelfCheck(CheckFault fault) : fault_(fault) {}

  // Uniform in [centre - 1, centre + 1) with some -0 and subnormals; the
  // references live as long as this.
  CheckTensor& Input(DType dtype, int64_t rows, int64_t columns,
                     float centre = 0);
  // Without gaps between rows.
  float* Floats(int64_t count, float centre = 0);
  // Part of the digest, in the order of the calls: poisoned memory, and memory
  // that an operation adds to.
  CheckTensor& Output(DType dtype, int64_t rows, int64_t columns);
  CheckTensor& InOut(int64_t rows, int64_t columns, float centre = 0);
  // Outputs without gaps.
  float* OutputFloats(int64_t count) {
    return Output(DType::kF32, 1, count).as<float>();
  }
  // One more number for the digest.
  void Add(uint64_t value) { extra_.push_back(value); }

  // 32 lower-case hex digits.
  std::string Digest();

 private:
  void Fill(CheckTensor& tensor, float centre);

  const CheckFault fault_;
  uint64_t filled_ = 0;
  std::deque<CheckTensor> tensors_;
  std::vector<CheckTensor*> outputs_;
  std::vector<uint64_t> extra_;
};

// Document numbers that change twice a sample, as [samples * tokens].
std::vector<int32_t> CheckSegments(int64_t samples, int64_t tokens);

}  // namespace lockstep

#endif  // MODEL_KERNELS_SELF_CHECK_H_
