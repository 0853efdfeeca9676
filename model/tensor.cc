#include "model/tensor.h"

#include <cstring>
#include <utility>

namespace lockstep {

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  Release();
  device_ = std::exchange(other.device_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  dtype_ = other.dtype_;
  count_ = std::exchange(other.count_, 0);
  shape_ = std::exchange(other.shape_, {});
  return *this;
}

Tensor Tensor::Uninit(Device& device, DType dtype, std::vector<int64_t> shape) {
  Tensor tensor;
  int64_t count = 1;
  for (int64_t extent : shape) {
    LS_CHECK_GE(extent, 0);
    LS_CHECK(!__builtin_mul_overflow(count, extent, &count))
        << "element count overflows";
  }
  tensor.device_ = &device;
  tensor.dtype_ = dtype;
  tensor.count_ = count;
  tensor.shape_ = std::move(shape);
  tensor.data_ = device.Allocate(tensor.bytes());
  return tensor;
}

Tensor Tensor::Zeros(Device& device, DType dtype, std::vector<int64_t> shape) {
  Tensor tensor = Uninit(device, dtype, std::move(shape));
  tensor.SetZero();
  return tensor;
}

int64_t Tensor::dim(int i) const {
  const int rank = static_cast<int>(shape_.size());
  const int index = i < 0 ? i + rank : i;
  LS_CHECK(index >= 0 && index < rank) << "dim " << i << " of " << rank;
  return shape_[index];
}

Tensor Tensor::Clone() const {
  LS_CHECK(data_ != nullptr) << "no tensor to clone";
  Tensor copy = Uninit(*device_, dtype_, shape_);
  std::memcpy(copy.data_, data_, bytes());
  return copy;
}

void Tensor::SetZero() {
  if (data_ != nullptr) std::memset(data_, 0, bytes());
}

void Tensor::Release() {
  if (data_ != nullptr) device_->Free(data_, bytes());
  data_ = nullptr;
}

}  // namespace lockstep
