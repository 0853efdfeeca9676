#include "model/tensor.h"

#include <cstdint>
#include <utility>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"

namespace lockstep {
namespace {

TEST(TensorTest, ShapeCountAndBytes) {
  Device device(1, Isa::kScalar);
  Tensor tensor = Tensor::Zeros(device, DType::kBF16, {3, 0x10, 5});
  EXPECT_EQ(tensor.count(), 240);
  EXPECT_EQ(tensor.bytes(), 480u);
  EXPECT_EQ(tensor.dim(1), 16);
  EXPECT_EQ(tensor.dim(-1), 5);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    EXPECT_EQ(tensor.data<BF16>()[i].bits, 0);
  }
  EXPECT_EQ(device.bytes_in_use(), 480);
}

TEST(TensorTest, MovingMovesTheMemory) {
  Device device(1, Isa::kScalar);
  Tensor a = Tensor::Zeros(device, DType::kF32, {8});
  float* data = a.data<float>();
  Tensor b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(b.data<float>(), data);
  b = Tensor::Zeros(device, DType::kI64, {2, 2});
  EXPECT_EQ(device.bytes_in_use(), 32);
  b = Tensor();
  EXPECT_EQ(device.bytes_in_use(), 0);
}

TEST(TensorTest, CloneIsIndependent) {
  Device device(1, Isa::kScalar);
  Tensor a = Tensor::Zeros(device, DType::kF32, {2});
  a.data<float>()[1] = 7;
  Tensor b = a.Clone();
  a.data<float>()[1] = 8;
  EXPECT_EQ(b.data<float>()[0], 0);
  EXPECT_EQ(b.data<float>()[1], 7);
  EXPECT_EQ(b.shape(), a.shape());
}

TEST(TensorTest, ScalarsAndEmptyTensors) {
  Device device(1, Isa::kScalar);
  EXPECT_EQ(Tensor::Zeros(device, DType::kF64, {}).count(), 1);
  Tensor empty = Tensor::Zeros(device, DType::kF32, {4, 0});
  EXPECT_TRUE(empty);
  EXPECT_EQ(empty.count(), 0);
  EXPECT_FALSE(Tensor());
}

TEST(TensorDeathTest, WrongElementTypeIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Device device(1, Isa::kScalar);
  Tensor tensor = Tensor::Zeros(device, DType::kBF16, {4});
  EXPECT_DEATH(tensor.data<float>(), "BF16");
}

}  // namespace
}  // namespace lockstep
