// Tile instructions of AMX on a processor that has none, for tests.
//
// What it is: a handler of SIGILL that decodes the instruction at which the
// thread stopped (LDTILECFG, TILEZERO, TILELOADD, TILESTORED, TDPBF16PS,
// TILERELEASE), does what the manual says it does (Intel SDM volume 2, and for
// the order of TDPBF16PS's sums the model of N3, which was held against the
// hardware in millions of outputs), and goes on behind it. Thus the very
// machine code of an amx kernel runs anywhere, at some microseconds an
// instruction. What it is not: for products or for speed. Why so: a kernel that
// can be tested on one kind of machine only is a kernel that is not tested.
//
// What it refuses, as the hardware would: an instruction without a
// configuration, a register of another shape than it was configured for.

#ifndef MODEL_KERNELS_TILE_TRAP_H_
#define MODEL_KERNELS_TILE_TRAP_H_

#include <cstdint>

namespace lockstep {

// Catches tile instructions from now on, on every thread. False where the
// processor cannot run the rest of the level (AVX-512).
bool EmulateTiles();

// Instructions done so far on all threads, of which products.
struct TileCounts {
  int64_t instructions = 0;
  int64_t products = 0;
};
TileCounts EmulatedTiles();

}  // namespace lockstep

#endif  // MODEL_KERNELS_TILE_TRAP_H_
