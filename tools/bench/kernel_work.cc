#include "tools/bench/kernel_work.h"

#include <algorithm>
#include <bit>

namespace lockstep {
namespace {

// Any numbers, but the same in every run.
class Draw {
 public:
  uint32_t Next() { return state_ = state_ * 1664525u + 1013904223u; }
  // In [0, 1).
  float Unit() { return static_cast<float>(Next() >> 8) * 0x1p-24f; }

 private:
  uint32_t state_ = 1;
};

}  // namespace

void* WorkMemory::Bytes(int64_t bytes) {
  bytes_ += bytes;
  taken_.push_back(std::make_unique<std::byte[]>(static_cast<size_t>(bytes)));
  return taken_.back().get();
}

void* WorkMemory::Storage(int64_t count) {
  auto* const values = static_cast<uint16_t*>(Bytes(2 * count));
  Draw draw;
  for (int64_t i = 0; i < count; ++i) {
    const float value = 2.0f * draw.Unit() - 1.0f;
    values[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
  }
  return values;
}

float* WorkMemory::Floats(int64_t count, float low, float high) {
  auto* const values = static_cast<float*>(Bytes(4 * count));
  Draw draw;
  for (int64_t i = 0; i < count; ++i) {
    values[i] = low + (high - low) * draw.Unit();
  }
  return values;
}

int32_t* WorkMemory::Numbers(int64_t count, int32_t below) {
  auto* const values = static_cast<int32_t*>(Bytes(4 * count));
  Draw draw;
  for (int64_t i = 0; i < count; ++i) {
    values[i] =
        static_cast<int32_t>(draw.Next() % static_cast<uint32_t>(below));
  }
  return values;
}

KernelWorkMaker MemoryWork(const std::string& operation, const std::string& way,
                           FillWork fill) {
  const std::string name = way.empty() ? operation : operation + " " + way;
  return {operation, name, [=](Device& device) {
            const auto memory = std::make_shared<WorkMemory>();
            const std::function<void()> call = fill(device, *memory);
            return KernelWork{operation, name, 0, memory->bytes(),
                              [memory, call] { call(); }};
          }};
}

std::vector<KernelWorkMaker> AllKernelWork() {
  std::vector<KernelWorkMaker> all;
  AddRowWork(all);
  AddProductWork(all);
  AddParameterWork(all);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.operation < b.operation;
  });
  return all;
}

}  // namespace lockstep
