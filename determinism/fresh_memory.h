// What memory holds that nobody has written yet.
//
// What it is: how many ask that it hold a pattern that is no number, of all
// devices of the process: ranks that are threads are asked together. What it is
// not: an allocator (model/device.h), or the asking (model/device_poison.h).
// Why so: whoever hands out memory, and the fault that leaves some unwritten,
// must agree on what it holds.

#ifndef DETERMINISM_FRESH_MEMORY_H_
#define DETERMINISM_FRESH_MEMORY_H_

#include <atomic>

namespace lockstep {

std::atomic<int>& FreshMemoryPoison();

// Set in every byte, a NaN of every float type.
inline constexpr unsigned char kPoisonByte = 0xff;

inline bool IsFreshMemoryPoisoned() {
  return FreshMemoryPoison().load(std::memory_order_relaxed) > 0;
}

}  // namespace lockstep

#endif  // DETERMINISM_FRESH_MEMORY_H_
