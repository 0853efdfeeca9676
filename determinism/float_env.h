// The float environment of clause N2, on this thread.
//
// Every thread that computes holds a ScopedFloatEnv: round to nearest even,
// subnormals flushed on output (FTZ) and read as zero on input (DAZ), no traps.
// Code that a library's thread might call (a completion callback, a compute
// function handed to a pool of somebody else's) makes its own. It does not
// touch the x87 control word, since nothing here uses x87.

#ifndef DETERMINISM_FLOAT_ENV_H_
#define DETERMINISM_FLOAT_ENV_H_

#include <xmmintrin.h>

namespace lockstep {

// All exceptions masked (0x1f80), rounding 00 = nearest even, FTZ and DAZ.
constexpr unsigned kStrictMxcsr = 0x1f80u | 0x8000u | 0x0040u;

// Sets the environment and puts back the former one; the sticky exception
// flags of the scope are dropped.
class ScopedFloatEnv {
 public:
  ScopedFloatEnv() : saved_(_mm_getcsr()) { _mm_setcsr(kStrictMxcsr); }
  ~ScopedFloatEnv() { _mm_setcsr(saved_); }
  ScopedFloatEnv(const ScopedFloatEnv&) = delete;
  ScopedFloatEnv& operator=(const ScopedFloatEnv&) = delete;

 private:
  unsigned saved_;
};

// Whether this thread computes under N2 now (sticky flags aside).
inline bool FloatEnvIsStrict() {
  return (_mm_getcsr() & ~0x3fu) == kStrictMxcsr;
}

}  // namespace lockstep

#endif  // DETERMINISM_FLOAT_ENV_H_
