// The threads of a rank's device, for the fingerprints of its trace.
//
// A trace is told of an operation when that has ended, so the threads have
// nothing else to do.
#ifndef LOCKSTEP_TOOLS_TRACE_LOOP_H_
#define LOCKSTEP_TOOLS_TRACE_LOOP_H_

#include <cstdint>
#include <functional>

#include "determinism/trace_writer.h"
#include "model/device.h"

namespace lockstep {

// The device outlives it.
inline TraceLoop TraceLoopOn(Device& device) {
  return [&device](int64_t n, const std::function<void(int64_t)>& item) {
    device.threads().ParallelFor(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) item(i);
    });
  };
}

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_LOOP_H_
