// LS_MATH_INLINE: how the project writes a function that must be the same code
// in generic, per-ISA and CUDA translation units.
//
// static and always inlined: no symbol of an AVX-512 copy can reach an older
// CPU through the linker, and a loop around the call can be vectorised. Not for
// ordinary helpers, which are plain functions.

#ifndef DETERMINISM_INLINE_H_
#define DETERMINISM_INLINE_H_

#if defined(__CUDACC__)
#define LS_MATH_INLINE static __host__ __device__ __forceinline__
#else
#define LS_MATH_INLINE static inline __attribute__((always_inline))
#endif

namespace lockstep {

// std::bit_cast, but inlined even where the optimiser is off.
template <class To, class From>
LS_MATH_INLINE To BitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

}  // namespace lockstep

#endif  // DETERMINISM_INLINE_H_
