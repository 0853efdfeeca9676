// A tensor's memory, row by row, as faults damage it. Private to fault.cc.
#ifndef DETERMINISM_FAULT_ROWS_H_
#define DETERMINISM_FAULT_ROWS_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "determinism/operation.h"

namespace lockstep::fault_internal {

inline int64_t CountOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

// A tensor as rows of its last dim.
class Rows {
 public:
  explicit Rows(const TensorRef& tensor)
      : data_(static_cast<unsigned char*>(tensor.data)),
        element_bytes_(static_cast<int64_t>(SizeOf(tensor.dtype))),
        length_(tensor.shape.empty() ? 1 : tensor.shape.back()),
        count_(length_ == 0 ? 0 : CountOf(tensor.shape) / length_),
        stride_bytes_(tensor.row_stride_bytes != 0 ? tensor.row_stride_bytes
                                                   : length_ * element_bytes_) {
  }

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  int64_t row_bytes() const { return length_ * element_bytes_; }
  unsigned char* row(int64_t i) const { return data_ + i * stride_bytes_; }
  unsigned char* at(int64_t i) const {  // by position
    return row(i / length_) + (i % length_) * element_bytes_;
  }

 private:
  unsigned char* const data_;
  const int64_t element_bytes_, length_, count_, stride_bytes_;
};

template <typename T>
void Store(unsigned char* element, T value) {
  std::memcpy(element, &value, sizeof(value));
}

template <typename T>
T Load(const unsigned char* element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

}  // namespace lockstep::fault_internal

#endif  // DETERMINISM_FAULT_ROWS_H_
