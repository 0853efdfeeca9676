#include "model/device_poison.h"

#include "model/device_poison_count.h"

namespace lockstep {

ScopedPoison::ScopedPoison() { ++DevicePoisonCount(); }
ScopedPoison::~ScopedPoison() { --DevicePoisonCount(); }

}  // namespace lockstep
