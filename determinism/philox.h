// Random numbers as a pure function of a logical position (clause N9).
//
// For initialisation, data order, dropout and tests. There is no generator
// object and no "next draw": a caller names the position, and any rank, thread
// or recomputation that names it draws the same. Philox4x32-10 is from Salmon,
// Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011);
// the bits are those of the authors' Random123. Not for secrets.

#ifndef DETERMINISM_PHILOX_H_
#define DETERMINISM_PHILOX_H_

#include <array>
#include <cstdint>
#include <span>

namespace lockstep {

// Who draws. The values are part of the trajectory: never renumber.
enum class Stream : uint8_t {
  kInit = 1,
  kOrder = 2,
  kBlend = 3,
  kHiddenDropout = 4,
  kGenerate = 5,
  kTrace = 6,
  kTest = 255,
};

// `item` is a global sample index, a step or a tensor's number, below 2^56.
// `element` counts in the unsharded tensor, below 2^50.
struct RandomPosition {
  Stream stream;
  uint16_t layer;
  uint64_t item;
  uint64_t element;
};

// The bijection itself, ten rounds.
std::array<uint32_t, 4> Philox4x32(const std::array<uint32_t, 4>& counter,
                                   const std::array<uint32_t, 2>& key);

// The counter of a position, as words from the least significant one up. As a
// number of 128 bits: stream 8 | layer 16 | item 56 | element / 4 48. The key
// is the seed, low word first; the element's lane is element mod 4.
std::array<uint32_t, 4> CounterOf(const RandomPosition& position);

// Uniform over all 2^32 values.
uint32_t RandomU32(uint64_t seed, const RandomPosition& position);

// A multiple of 2^-24 in [0, 1): the upper 24 bits of RandomU32.
float RandomUniform(uint64_t seed, const RandomPosition& position);

// Standard normal by Box and Muller: lanes 0, 1 of a counter give elements 0
// (cosine) and 1 (sine) of its four, lanes 2, 3 give elements 2 and 3. The
// radius is from u1 in (0, 1] with 24 bits, so |value| < 5.77. Under N2.
float RandomNormal(uint64_t seed, const RandomPosition& position);

// out[i] is the value at `first` with element + i; a counter is computed once
// for the four elements it serves.
void FillRandomU32(uint64_t seed, RandomPosition first,
                   std::span<uint32_t> out);
void FillRandomUniform(uint64_t seed, RandomPosition first,
                       std::span<float> out);
void FillRandomNormal(uint64_t seed, RandomPosition first,
                      std::span<float> out);

}  // namespace lockstep

#endif  // DETERMINISM_PHILOX_H_
