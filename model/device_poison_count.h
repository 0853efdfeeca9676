// How many ScopedPoison there are. For device.cc and device_poison.cc.
#ifndef LOCKSTEP_MODEL_DEVICE_POISON_COUNT_H_
#define LOCKSTEP_MODEL_DEVICE_POISON_COUNT_H_

#include <atomic>

namespace lockstep {

using PoisonCount = std::atomic<int>;
PoisonCount& DevicePoisonCount();

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_DEVICE_POISON_COUNT_H_
