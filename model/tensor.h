// A dense row-major array on a Device, owned by whoever holds it.
//
// Move-only: a copy of memory is something to say aloud (Clone). Not a view and
// not an expression: kernels take pointers and strides, and whoever needs a
// part of a tensor adds to the pointer.

#ifndef MODEL_TENSOR_H_
#define MODEL_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "model/device.h"

namespace lockstep {

// The DType that a C++ type stands for; bytes (std::byte, char) stand for any.
template <class T>
constexpr bool Stores(DType dtype) {
  if constexpr (std::is_same_v<T, float>) return dtype == DType::kF32;
  if constexpr (std::is_same_v<T, BF16>) return dtype == DType::kBF16;
  if constexpr (std::is_same_v<T, F16>) return dtype == DType::kF16;
  if constexpr (std::is_same_v<T, double>) return dtype == DType::kF64;
  if constexpr (std::is_same_v<T, int64_t>) return dtype == DType::kI64;
  if constexpr (std::is_same_v<T, int32_t>) return dtype == DType::kI32;
  if constexpr (std::is_same_v<T, uint8_t>) return dtype == DType::kU8;
  if constexpr (std::is_same_v<T, uint16_t>) return dtype == DType::kU16;
  if constexpr (std::is_same_v<T, uint32_t>) return dtype == DType::kU32;
  if constexpr (std::is_same_v<T, uint64_t>) return dtype == DType::kU64;
  return sizeof(T) == 1;
}

class Tensor {
 public:
  Tensor() = default;  // no memory, no shape: false
  Tensor(Tensor&& other) noexcept { *this = std::move(other); }
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() { Release(); }

  // The device must outlive the tensor. Extents may be 0, never negative.
  static Tensor Uninit(Device& device, DType dtype, std::vector<int64_t> shape);
  static Tensor Zeros(Device& device, DType dtype, std::vector<int64_t> shape);

  explicit operator bool() const { return data_ != nullptr; }

  // T must be the C++ type of dtype().
  template <class T>
  T* data() {
    LS_CHECK(Stores<T>(dtype_)) << "tensor is " << NameOf(dtype_);
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* data() const {
    LS_CHECK(Stores<T>(dtype_)) << "tensor is " << NameOf(dtype_);
    return static_cast<const T*>(data_);
  }
  void* raw() { return data_; }
  const void* raw() const { return data_; }

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  // Negative i counts from the end.
  int64_t dim(int i) const;
  int64_t count() const { return count_; }
  size_t bytes() const { return static_cast<size_t>(count_) * SizeOf(dtype_); }

  Tensor Clone() const;
  void SetZero();

 private:
  void Release();

  Device* device_ = nullptr;
  void* data_ = nullptr;
  DType dtype_ = DType::kF32;
  int64_t count_ = 0;
  std::vector<int64_t> shape_;
};

}  // namespace lockstep

#endif  // MODEL_TENSOR_H_
