// The most that the tile registers do: products of what they hold.

#include <cstdint>

#include "model/kernels/register_peak_kernel.h"
#include "model/kernels/tiles.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// More sums than latency over throughput (52 / 16 cycles).
void RegisterTileProducts(int64_t rounds, float* /*sink*/, int64_t* flops) {
  const TileSetup setup;  // all registers are zero
  for (int64_t round = 0; round < rounds; ++round) {
    MultiplyTiles<0, 6, 7>();
    MultiplyTiles<1, 6, 7>();
    MultiplyTiles<2, 6, 7>();
    MultiplyTiles<3, 6, 7>();
    MultiplyTiles<4, 6, 7>();
    MultiplyTiles<5, 6, 7>();
  }
  *flops = rounds * 6 * 2 * kRegisterRows * kRegisterElements;
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
