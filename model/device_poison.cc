#include "model/device_poison.h"

#include "determinism/fresh_memory.h"

namespace lockstep {

ScopedPoison::ScopedPoison() { ++FreshMemoryPoison(); }
ScopedPoison::~ScopedPoison() { --FreshMemoryPoison(); }

}  // namespace lockstep
