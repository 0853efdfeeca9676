#include "determinism/fresh_memory.h"

namespace lockstep {

std::atomic<int>& FreshMemoryPoison() {
  static std::atomic<int> count{0};
  return count;
}

}  // namespace lockstep
