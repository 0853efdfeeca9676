#include "model/kernels/self_check.h"

#include <cstring>

#include "determinism/check.h"
#include "determinism/philox.h"
#include "determinism/sha256.h"

namespace lockstep {
namespace {

constexpr uint64_t kSeed = 0x6c6f636b73746570;
constexpr std::byte kPoison{0xa5};

}  // namespace

CheckTensor::CheckTensor(DType dtype, int64_t rows, int64_t columns)
    : dtype_(dtype),
      element_(SizeOf(dtype)),
      rows_(rows),
      columns_(columns),
      bytes_(static_cast<size_t>(rows * (columns + kGap) + 1) * element_,
             kPoison) {}

void CheckTensor::Set(int64_t row, int64_t column, float value) {
  const auto at =
      static_cast<size_t>(row * row_stride() + column) * element_ + element_;
  if (dtype_ == DType::kF32) {
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
    return;
  }
  LS_CHECK(dtype_ == DType::kBF16 || dtype_ == DType::kF16) << NameOf(dtype_);
  const uint16_t bits =
      dtype_ == DType::kBF16 ? ToBF16(value).bits : ToF16(value).bits;
  std::memcpy(bytes_.data() + at, &bits, sizeof(bits));
}

void CheckTensor::FlipSign() {
  bytes_[2 * element_ - 1] ^= std::byte{0x80};  // little-endian
}

void CheckTensor::FlipBit() { bytes_[element_] ^= std::byte{0x01}; }

void SelfCheck::Fill(CheckTensor& tensor, float centre) {
  std::vector<float> uniform(
      static_cast<size_t>(tensor.rows() * tensor.columns()));
  FillRandomUniform(kSeed, {Stream::kTest, 0, filled_++, 0}, uniform);
  for (size_t i = 0; i < uniform.size(); ++i) {
    float value = centre + (2 * uniform[i] - 1);
    if (centre == 0 && i % 41 == 7) value = -0.0f;
    if (centre == 0 && i % 41 == 23) value = 0x1p-130f;
    const auto index = static_cast<int64_t>(i);
    tensor.Set(index / tensor.columns(), index % tensor.columns(), value);
  }
}

CheckTensor& SelfCheck::Input(DType dtype, int64_t rows, int64_t columns,
                              float centre) {
  CheckTensor& tensor = tensors_.emplace_back(dtype, rows, columns);
  const bool first = filled_ == 0;
  Fill(tensor, centre);
  if (first && fault_ == CheckFault::kInput) tensor.FlipSign();
  return tensor;
}

float* SelfCheck::Floats(int64_t count, float centre) {
  return Input(DType::kF32, 1, count, centre).as<float>();
}

CheckTensor& SelfCheck::Output(DType dtype, int64_t rows, int64_t columns) {
  CheckTensor& tensor = tensors_.emplace_back(dtype, rows, columns);
  outputs_.push_back(&tensor);
  return tensor;
}

CheckTensor& SelfCheck::InOut(int64_t rows, int64_t columns, float centre) {
  CheckTensor& tensor = Input(DType::kF32, rows, columns, centre);
  outputs_.push_back(&tensor);
  return tensor;
}

std::string SelfCheck::Digest() {
  LS_CHECK(!outputs_.empty()) << "nothing was computed";
  if (fault_ == CheckFault::kOutput) outputs_.back()->FlipBit();
  Sha256 hash;
  for (const CheckTensor* output : outputs_) hash.Update(output->bytes());
  hash.Update(extra_.data(), extra_.size() * sizeof(uint64_t));
  return hash.Hex().substr(0, 32);
}

std::vector<int32_t> CheckSegments(int64_t samples, int64_t tokens) {
  std::vector<int32_t> segments;
  for (int64_t t = 0; t < samples * tokens; ++t) {
    segments.push_back(static_cast<int32_t>(3 * (t % tokens) / tokens));
  }
  return segments;
}

}  // namespace lockstep
