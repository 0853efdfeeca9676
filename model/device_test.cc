#include "model/device.h"

#include <cstdint>
#include <cstring>

#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device_poison.h"

namespace lockstep {
namespace {

TEST(DeviceTest, CountsWhatIsInUseAndThePeak) {
  Device device(1, Isa::kScalar);
  void* small = device.Allocate(100);
  void* large = device.Allocate(1000000);
  EXPECT_EQ(device.bytes_in_use(), 1000100);
  device.Free(large, 1000000);
  EXPECT_EQ(device.bytes_in_use(), 100);
  EXPECT_EQ(device.peak_bytes(), 1000100);
  device.Free(small, 100);
  EXPECT_EQ(device.bytes_in_use(), 0);
}

TEST(DeviceTest, MemoryIsAlignedAndWritable) {
  Device device(1, Isa::kScalar);
  for (size_t bytes : {0, 1, 63, 64, 65, 100000, 3000001}) {
    void* data = device.Allocate(bytes);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, 0xff, bytes);
    device.Free(data, bytes);
  }
}

TEST(DeviceTest, LargeBlocksAreUsedAgain) {
  Device device(1, Isa::kScalar);
  void* first = device.Allocate(1 << 20);
  device.Free(first, 1 << 20);
  void* second = device.Allocate(1 << 20);
  EXPECT_EQ(first, second);
  void* third = device.Allocate(1 << 20);
  EXPECT_NE(second, third);
  device.Free(second, 1 << 20);
  device.Free(third, 1 << 20);
  EXPECT_EQ(device.peak_bytes(), 2 << 20);
}

// Fresh blocks and those that were used before, as long as one asks for it.
TEST(DeviceTest, PoisonedMemoryHoldsNoNumber) {
  Device device(1, Isa::kScalar);
  const auto first_words = [&](size_t bytes) {
    void* data = device.Allocate(bytes);
    uint64_t words[2] = {0, 0};
    std::memcpy(words, data, bytes < 16 ? bytes : 16);
    std::memset(data, 0, bytes);
    device.Free(data, bytes);
    return words[0] == UINT64_MAX && words[1] == UINT64_MAX;
  };
  EXPECT_FALSE(first_words(1 << 20));
  {
    const ScopedPoison poison;
    EXPECT_TRUE(first_words(1 << 20));
    EXPECT_TRUE(first_words(1 << 20));  // the block that was freed
    EXPECT_TRUE(first_words(64));
  }
  EXPECT_FALSE(first_words(1 << 20));
}

TEST(DeviceTest, CountsFlops) {
  Device device(2, Isa::kScalar);
  device.CountFlops(10);
  device.threads().ParallelFor(
      8, [&](int64_t begin, int64_t end) { device.CountFlops(end - begin); });
  EXPECT_EQ(device.flops(), 18);
}

TEST(DeviceDeathTest, LeaksAreBugs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Device device(1, Isa::kScalar);
        device.Allocate(64);
      },
      "outlives");
}

}  // namespace
}  // namespace lockstep
