// The tile registers of AMX: eight of 16 rows x 64 bytes.
//
// What it is: the instructions as functions, for sources that are compiled at
// the amx level; empty at others. What it is not: the compiler's intrinsics,
// which do not say that they read memory: a store to a packed operand could
// move behind the load of it. They know no MXCSR: they round to nearest even
// and flush subnormals, as N2 asks. Everything is static in LOCKSTEP_ISA_NS.

#ifndef MODEL_KERNELS_TILES_H_
#define MODEL_KERNELS_TILES_H_

#if defined(LOCKSTEP_TILES)

#include <cstdint>

#include "determinism/inline.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Side of a tile register in rows, its bytes a row, its elements.
constexpr int64_t kRegisterRows = 16;
constexpr int64_t kRegisterBytes = 64;
constexpr int64_t kRegisterElements = 512;

template <int kRegister>
LS_MATH_INLINE void ZeroTile() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kRegister));
}
template <int kRegister>
LS_MATH_INLINE void LoadTile(const void* from, int64_t row_bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row_bytes),
               "i"(kRegister)
               : "memory");
}
template <int kRegister>
LS_MATH_INLINE void StoreTile(void* to, int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row_bytes),
               "i"(kRegister)
               : "memory");
}
// sum += a . b, a block of 32 positions.
template <int kSum, int kA, int kB>
LS_MATH_INLINE void MultiplyTiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kA),
               "i"(kB));
}

struct TileShapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileShapes) == 64);
alignas(64) static constexpr TileShapes kWholeTiles = {
    1,
    0,
    {},
    {64, 64, 64, 64, 64, 64, 64, 64},
    {16, 16, 16, 16, 16, 16, 16, 16}};

// All registers whole, for as long as it lives. Per call: a library may have
// released them.
class TileSetup {
 public:
  TileSetup() { asm volatile("ldtilecfg %0" ::"m"(kWholeTiles)); }
  ~TileSetup() { asm volatile("tilerelease" ::: "memory"); }
  TileSetup(const TileSetup&) = delete;
  TileSetup& operator=(const TileSetup&) = delete;
};

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // defined(LOCKSTEP_TILES)

#endif  // MODEL_KERNELS_TILES_H_
